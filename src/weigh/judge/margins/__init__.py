"""Margins of labelled rows, maximum-margin hyperplanes, and mistake bounds of the perceptron."""
