"""Fine-tune and run models (torch, transformers) once, and write predictions tables for ``saturation``.

``predict`` runs a classifier over items, ``finetune`` trains one on targets made from votes, ``study`` does that for a
whole grid, ``score`` reads a language model's distribution over labels. Nothing here is imported by ``saturation``;
importing this package costs nothing, torch is loaded by what needs it.
"""
