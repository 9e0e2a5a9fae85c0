"""Isolation layers, one file each: a feature of Linux that keeps bots apart."""
