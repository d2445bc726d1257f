"""Packages that data comes from, each fetched by the user's own package manager with its own settings."""

from gnomon.lab.data.packages.apt import Debian
from gnomon.lab.data.packages.base import Package
from gnomon.lab.data.packages.npm import Npm
from gnomon.lab.data.packages.pip import PyPI

__all__ = ["Debian", "Npm", "Package", "PyPI"]
