"""How many annotators per item do I need?"""
