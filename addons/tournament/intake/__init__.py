"""Intake: checks submissions side by side and sorts them into accepted and refused."""
