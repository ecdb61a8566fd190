"""The adopter's package: an agent and its card. Ships with a real example, financial-analysis."""
