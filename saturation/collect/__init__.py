"""A small local web form that collects votes, whole distributions or single labels (extra ``collect``)."""
