"""Model inspection: strongest features, counterfactuals, decision regions, novelty and training traces."""
