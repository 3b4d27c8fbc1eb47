"""Measuring: models, random ensembles, spectra, and the sampler that runs draws on devices."""
