"""A module for each package. A method is a class with

packages    names of the packages, for the recorded versions
__init__    takes the task (see bo bench plan) and the number of threads
tell        takes points in the units of the box and their values (minimised)
ask         returns the next point
"""
