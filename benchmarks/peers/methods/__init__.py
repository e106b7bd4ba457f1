"""A module for each package. A method is a class:

packages    names of the packages whose versions are recorded
__init__    takes the task (see bo bench plan) and the number of threads
tell        takes points, in the units of the box, and their values, to be minimised
ask         returns the next point
"""
