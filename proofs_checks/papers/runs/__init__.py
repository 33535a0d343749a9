"""Claims that stored runs decide: each names the protocol whose runs it reads."""
