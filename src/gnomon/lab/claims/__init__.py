"""The claims of the article that gnomon began with (docs/article.md), each as something that is measured here."""

from gnomon.lab.claims.base import Claim, Measured, NotMeasurable, OfSuite, Reading, Said, all_claims, claim, registry

__all__ = ["Claim", "Measured", "NotMeasurable", "OfSuite", "Reading", "Said", "all_claims", "claim", "registry"]
