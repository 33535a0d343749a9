"""Tasks of a user's own: with options, prompts that are drawn, several right outputs, two scales, and errors."""

from lengthgen import Reference, Task, TwoScaleTask

BITS = ("0", "1")


def running(prompt):
    seen, output = "0", []
    for bit in prompt[:-1]:
        seen = "1" if "1" in (seen, bit) else "0"
        output.append(seen)
    return output


running_or = Task(
    name="running_or",
    alphabet=("0", "1", "="),
    prompt=lambda n: [BITS] * n + [("=",)],
    generate=running,
    reference=Reference(
        arity=2,
        steps=lambda n: [("or", (t, n + t)) for t in range(1, n + 1)],
        apply=lambda operator, symbols: "1" if "1" in symbols else "0",
    ),
)
first_one = Task(
    name="first_one",
    alphabet=("0", "1", "$"),
    prompt=lambda n: [BITS] * n,
    valid=lambda prompt: list(prompt) == sorted(prompt),
    draw=lambda n, source: sorted(source.choices(BITS, k=n)),
    generate=lambda prompt: ["0"] * prompt.count("0") + ["$"],
    end="$",
)
echo = Task(name="echo", alphabet=BITS, prompt=lambda n: [BITS, ...] * n, generate=list)
any_bit = Task(
    name="any_bit",
    alphabet=BITS,
    prompt=lambda n: [BITS] * n,
    generate=lambda prompt: [prompt[-1]],
    right=lambda prompt: [[bit] for bit in dict.fromkeys(prompt)],
)
rectangle = TwoScaleTask(
    name="rectangle",
    alphabet=("0", "1", "+"),
    prompt=lambda m, n: [BITS] * m + [("+",)] + [BITS] * n,
    generate=lambda prompt: [prompt[0], prompt[-1]],
)
leaves = Task(name="leaves", alphabet=BITS, prompt=lambda n: [BITS] * n, generate=lambda prompt: ["2"])
