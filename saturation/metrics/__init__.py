"""Pure functions, arrays in and arrays out, a family a file; ``catalogue`` lists them.

``metric(spec)`` of ``catalogue`` makes the ``Metric`` record that analyses work with; the functions of the families
are the same numbers for scripts, all as f(probs (..., items, labels), counts (items, labels), **options).

Per item: ``divergence``, ``distance``, ``entropy``, ``majority``, ``ranking``. On sets: ``calibration`` (over
``bins``), ``classification``, ``correlation`` (over ``ranks``), ``detection``; the terms of the Brier score: ``murphy``
(over ``murphy_bins`` and ``murphy_pairs``, its twin over ``isotonic``). About the votes themselves: ``estimators``,
``corrections``, ``agreement``, ``entropy_reliability``. Entries and their text form: ``item_entries``,
``set_entries``, ``spec``, ``catalogue``.
"""
