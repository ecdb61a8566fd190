"""The adopter's package: an agent and its card. Ships with financial-analysis, a real example; replace it by your own."""
