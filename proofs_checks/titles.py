"""Titles of the papers that claims call by a shorter name, by arXiv id."""

from collections.abc import Mapping

from lengthgen.proofs_checks.claim import Source

TITLES: Mapping[str, str] = {
    "1803.02155": "Self-Attention with Relative Position Representations",
    "1910.10683": "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
    "2104.09864": "RoFormer: Enhanced Transformer with Rotary Position Embedding",
    "2108.12409": "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
    "2205.09921": "KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation",
    "2212.10554": "A Length-Extrapolatable Transformer",
    "2306.15595": "Extending Context Window of Large Language Models via Positional Interpolation",
    "2309.00071": "YaRN: Efficient Context Window Extension of Large Language Models",
    "2310.04418": "Functional Interpolation for Relative Positions Improves Long Context Transformers",
    "2502.02004": "Wavelet-based Positional Representation for Long Context",
    "2502.18845": "Sliding Window Attention Training for Efficient Large Language Models",
    "2503.02130": "Forgetting Transformer: Softmax Attention with a Forget Gate",
    "2503.08067": "Context-aware Biases for Length Extrapolation",
    "2505.22842": "Bayesian Attention Mechanism: A Probabilistic Framework for Positional Encoding and Context Length "
    "Extrapolation",
    "2506.00920": "Position as Probability: Self-Supervised Transformers that Think Past Their Training for Length "
    "Extrapolation",
    "2506.13277": "SeqPE: Transformer with Sequential Position Encoding",
    "2506.19834": "A standard transformer and attention with linear biases for molecular conformer generation",
    "2509.05218": "HoPE: Hyperbolic Rotary Positional Encoding for Stable Long-Range Dependency Modeling in Large "
    "Language Models",
    "2512.07805": "Group Representational Position Encoding",
}


def title(source: Source) -> str:
    """Return the title of the paper of a source, or its name there, which is the title of the others."""
    return TITLES.get(source.arxiv, source.paper)
