"""GRAPE: position encodings as actions of a group, rotations of learned planes (GRAPE-M) or unipotent ones (GRAPE-A).

Rotations are written for every head dimension at once.  An operator has the form lambda I + sum M_uv u v^T, with u and
v from a few vectors.  Products of such operators depend on the scalar products of these vectors alone, so an identity
between their coefficients holds in every dimension.

The additive forms extend queries and keys to q^ = [q; 1; 0] and k^ = [k; 0; 1], so q^.k^ = q.k.  The group acts only on
the two extra coordinates, and the content enters only through the scalar q.k, so 2 x 2 matrices cover every head
dimension.  In GRAPE-AP the bias is a sum of edge potentials on the path from the key to the query.

Source: GRAPE, arXiv 2512.07805, also on the step matrix of PaTH attention (Yang et al., arXiv 2505.16381).  The paper's
query is at i (in GRAPE-AP at t) and its key at j; here j is the query, i the key, and l a token on the path.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import sympy as sp

from lengthgen.theory.encodings import biases, rotary
from lengthgen.theory.encodings.encoding import (
    DEPENDS_ON_TOKENS,
    DISTANCE_LAWS,
    HEAD_DIM,
    HEADS,
    LAYERS,
    ONE_LAW,
    WIDTH,
    Encoding,
    Family,
    Law,
    Option,
    Parameter,
    Properties,
    Recovery,
)
from lengthgen.theory.encodings.paths import log_sigmoid, softplus
from lengthgen.theory.encodings.rotary import FREQUENCY, rotation
from lengthgen.theory.relation import relative

SPEED = sp.Symbol("speed", nonnegative=True)


class Products(Protocol):
    """Interface: scalar products of a few vectors, as their Gram matrix."""

    @property
    def matrix(self) -> sp.Matrix:
        """Gram matrix; entry (u, v) is u.v."""


@dataclass(frozen=True, kw_only=True)
class Gram:
    """Scalar products of two vectors: alpha = a.a, beta = b.b, gamma = a.b."""

    alpha: sp.Expr
    beta: sp.Expr
    gamma: sp.Expr

    @classmethod
    def of(cls, a: Sequence[sp.Expr], b: Sequence[sp.Expr]) -> Self:
        """Scalar products of two vectors of the same dimension."""
        first, second = sp.Matrix(a), sp.Matrix(b)
        return cls(alpha=first.dot(first), beta=second.dot(second), gamma=first.dot(second))

    @property
    def matrix(self) -> sp.Matrix:
        """Gram matrix [[a.a, a.b], [b.a, b.b]]."""
        return sp.Matrix([[self.alpha, self.gamma], [self.gamma, self.beta]])


@dataclass(frozen=True, kw_only=True)
class Frame:
    """Scalar products of any number of vectors."""

    matrix: sp.ImmutableMatrix

    @classmethod
    def of(cls, *vectors: Sequence[sp.Expr]) -> Self:
        """Scalar products of vectors of the same dimension."""
        rows = sp.ImmutableMatrix([list(vector) for vector in vectors])
        return cls(matrix=rows * rows.T)


@dataclass(frozen=True, kw_only=True)
class PlaneOperator:
    """Operator lambda I + U M U^T, with a few vectors as the columns of U.

    It stores lambda (`identity`) and M (`coefficients`).  If the vectors are independent and fewer than the dimension,
    the operator determines (lambda, M).  [F]
    """

    gram: Products
    identity: sp.Expr
    coefficients: sp.Matrix

    def __add__(self, other: Self) -> Self:
        return self._with(self.identity + other.identity, self.coefficients + other.coefficients)

    def __matmul__(self, other: Self) -> Self:
        return self._with(
            self.identity * other.identity,
            self.identity * other.coefficients
            + other.identity * self.coefficients
            + self.coefficients * self.gram.matrix * other.coefficients,
        )

    def scaled(self, factor: sp.Expr) -> Self:
        """Operator times a scalar."""
        return self._with(factor * self.identity, factor * self.coefficients)

    def transpose(self) -> Self:
        """Transposed operator lambda I + U M^T U^T."""
        return self._with(self.identity, self.coefficients.T)

    def determinant(self) -> sp.Expr:
        """Determinant det(I + U M U^T) = det(I + M U^T U), in every dimension (Sylvester).

        Valid only if lambda = 1.
        """
        return (sp.eye(self.coefficients.rows) + self.coefficients * self.gram.matrix).det()

    def expressed(self, gram: Products, change: sp.Matrix) -> Self:
        """Same operator written with the vectors U of `gram`, if its own vectors are U times `change`."""
        return type(self)(gram=gram, identity=self.identity, coefficients=change * self.coefficients * change.T)

    def derivative(self, time: sp.Symbol) -> Self:
        """Unevaluated derivative with respect to a scalar on which a and b do not depend."""
        return self._with(
            sp.Derivative(self.identity, time), self.coefficients.applyfunc(lambda entry: sp.Derivative(entry, time))
        )

    def coordinates(self) -> sp.Matrix:
        """Column of lambda and the entries of M."""
        return sp.Matrix([self.identity, *self.coefficients])

    def matrix(self, *vectors: Sequence[sp.Expr]) -> sp.Matrix:
        """Matrix, d x d, for given vectors of dimension d, whose scalar products must be `gram`."""
        frame = sp.Matrix([list(vector) for vector in vectors]).T
        return self.identity * sp.eye(frame.rows) + frame * self.coefficients * frame.T

    def _with(self, identity: sp.Expr, coefficients: sp.Matrix) -> Self:
        """Operator with the same vectors and other coefficients."""
        return type(self)(gram=self.gram, identity=identity, coefficients=coefficients)


def identity(gram: Products) -> PlaneOperator:
    """Identity operator."""
    return PlaneOperator(gram=gram, identity=sp.Integer(1), coefficients=sp.zeros(*gram.matrix.shape))


def rank2_generator(gram: Gram) -> PlaneOperator:
    """Rank-2 generator L(a, b) = a b^T - b a^T.  [P]"""
    return PlaneOperator(gram=gram, identity=sp.Integer(0), coefficients=sp.Matrix([[0, 1], [-1, 0]]))


def plane_projector(gram: Gram) -> PlaneOperator:
    """Orthogonal projector on span(a, b), U (U^T U)^-1 U^T, for independent a and b."""
    adjugate = sp.Matrix([[gram.beta, -gram.gamma], [-gram.gamma, gram.alpha]])
    return PlaneOperator(gram=gram, identity=sp.Integer(0), coefficients=adjugate / squared_speed(gram))


def squared_speed(gram: Gram) -> sp.Expr:
    """Squared speed s^2 = alpha beta - gamma^2; the nonzero eigenvalues of L(a, b) are i s and -i s.  [P]"""
    return gram.alpha * gram.beta - gram.gamma**2


def rank2_exponential(gram: Gram, *, time: sp.Expr, speed: sp.Expr) -> PlaneOperator:
    """Rotation exp(t L) = I + sin(t s)/s L + (1 - cos(t s))/s^2 L^2, s^2 = alpha beta - gamma^2 not zero.  [P]

    At s = 0 the vectors are parallel, L = 0 and exp(t L) = I.
    """
    generator = rank2_generator(gram)
    turn = generator.scaled(sp.sin(time * speed) / speed)
    retreat = (generator @ generator).scaled((1 - sp.cos(time * speed)) / speed**2)
    return identity(gram) + turn + retreat


def exponential_by_angle(gram: Gram, *, steps: sp.Expr, rate: sp.Expr, speed: sp.Expr) -> PlaneOperator:
    """Rotation exp(n omega L) = I + n omega f1(z) L + (n omega)^2 f2(z) L^2, z = n omega s.

    f1(z) = sin z / z and f2(z) = (1 - cos z) / z^2; the paper takes their derivatives.  [F; the paper prints
    f1, f2 alone]
    """
    generator, angle, time = rank2_generator(gram), steps * rate * speed, steps * rate
    turn, retreat = sine_share(angle), cosine_share(angle)
    return identity(gram) + generator.scaled(time * turn) + (generator @ generator).scaled(time**2 * retreat)


def sine_share(angle: sp.Expr) -> sp.Expr:
    """Coefficient function f1(z) = sin z / z.  [P]"""
    return sp.sin(angle) / angle


def cosine_share(angle: sp.Expr) -> sp.Expr:
    """Coefficient function f2(z) = (1 - cos z) / z^2.  [P]"""
    return (1 - sp.cos(angle)) / angle**2


def displacement(gram: Gram, *, along_a: sp.Expr, along_b: sp.Expr, time: sp.Expr, speed: sp.Expr) -> sp.Matrix:
    """Coefficients (p, q), 2 x 1, with exp(t L) x = x + p a + q b, where u = a.x and v = b.x: O(d) per vector.  [P]

    p = f1 v + f2 (gamma v - beta u), q = -f1 u + f2 (gamma u - alpha v), f1 = sin(ts)/s, f2 = (1 - cos ts)/s^2.
    """
    turn, retreat = sp.sin(time * speed) / speed, (1 - sp.cos(time * speed)) / speed**2
    return sp.Matrix(
        [
            turn * along_b + retreat * (gram.gamma * along_b - gram.beta * along_a),
            -turn * along_a + retreat * (gram.gamma * along_a - gram.alpha * along_b),
        ]
    )


def regauged(gram: Gram, change: sp.Matrix) -> Gram:
    """Scalar products of the columns of [a b] M: the Gram matrix M^T G M.  [P]"""
    products = change.T * gram.matrix * change
    return Gram(alpha=products[0, 0], beta=products[1, 1], gamma=products[0, 1])


def integer_period(turns: sp.Rational) -> sp.Integer:
    """Least n >= 1 with exp(n L) = I if s = 2 pi times `turns`: the denominator of `turns`.  [F]"""
    return sp.Integer(turns.q)


def plane_action(position: sp.Expr, *, speed: sp.Expr) -> sp.Matrix:
    """Rotation exp(position L(a, b)) on span(a, b), 2 x 2; the axes are along b and along a, in this order.  [F]"""
    a, b = (sp.Integer(0), sp.Integer(1)), (speed, sp.Integer(0))
    return rank2_exponential(Gram.of(a, b), time=position, speed=speed).matrix(a, b)


GRAPE = Encoding(
    name="grape",
    title="GRAPE-M, one plane",
    arxiv="2512.07805",
    aliases=("grape-m",),
    summary="rotation of one learned plane (GRAPE-M)",
    caveat=ONE_LAW,
    parameters=(
        Parameter(
            SPEED,
            "s of a and b, both trained, on their plane; 0 on the head's other planes",
            learned=2 * HEAD_DIM * HEADS,
        ),
    ),
    rotate=lambda position, _: (plane_action(position, speed=SPEED), plane_action(position, speed=SPEED)),
    relation=relative(),
    laws=DISTANCE_LAWS,
    properties=Properties(far="speed > 0: oscillates; speed = 0: constant"),
    recovers=(Recovery("nope", {SPEED: sp.Integer(0)}),),
)


def quarter_turn(vector: Sequence[sp.Expr]) -> list[sp.Expr]:
    """Quarter turn J a, J = blockdiag(J2, ..., J2): (a_1, a_2) becomes (-a_2, a_1), and so on.  [P]"""
    return [entry for pair in zip(vector[::2], vector[1::2], strict=True) for entry in (-pair[1], pair[0])]


def spanning(vectors: Sequence[Sequence[sp.Expr]]) -> list[Sequence[sp.Expr]]:
    """Vectors J a_1, a_1, J a_2, a_2, ... that span the planes of a_1, a_2, ..."""
    return [spanned for vector in vectors for spanned in (quarter_turn(vector), vector)]


def plane_generator(frame: Frame, plane: int) -> PlaneOperator:
    """Generator L(a_l, J a_l) of plane l, counted from 0, in a frame of the vectors J a_1, a_1, J a_2, a_2, ...  [P]"""
    return _in_frame(rank2_generator(_plane_gram(frame, plane)), frame, plane)


def plane_exponential(frame: Frame, plane: int, *, angle: sp.Expr) -> PlaneOperator:
    """Rotation exp(angle L(a_l, J a_l)) of plane l.

    Its speed s is |a_l|^2, since a_l and J a_l have the same length and are orthogonal.  [P]
    """
    gram = _plane_gram(frame, plane)
    return _in_frame(rank2_exponential(gram, time=angle, speed=gram.alpha), frame, plane)


def commuting_action(frame: Frame, angles: Sequence[sp.Expr]) -> PlaneOperator:
    """Product of the exponentials of the planes, one angle per plane.  [P]"""
    product = identity(frame)
    for plane, angle in enumerate(angles):
        product = product @ plane_exponential(frame, plane, angle=angle)
    return product


def _plane_gram(frame: Frame, plane: int) -> Gram:
    """Scalar products of a_l and J a_l, in this order."""
    turned, plain = 2 * plane, 2 * plane + 1
    products = frame.matrix
    return Gram(alpha=products[plain, plain], beta=products[turned, turned], gamma=products[plain, turned])


def _in_frame(operator: PlaneOperator, frame: Frame, plane: int) -> PlaneOperator:
    """Operator of plane l, written with all vectors of the frame."""
    change = sp.zeros(frame.matrix.rows, 2)
    change[2 * plane + 1, 0] = change[2 * plane, 1] = 1
    return operator.expressed(frame, change)


def _action_in_coordinates(angle: sp.Expr) -> sp.Matrix:
    """Action on one plane in the coordinates (J a, a), a of length 1: 2 x 2.  [F]"""
    turned = commuting_action(Frame(matrix=sp.ImmutableMatrix(sp.eye(2))), [angle])
    return turned.identity * sp.eye(2) + turned.coefficients


COMMUTING = Encoding(
    name="grape-commuting",
    title="GRAPE-M, commuting planes",
    arxiv="2512.07805",
    summary="rotation of learned planes (GRAPE-M)",
    caveat=ONE_LAW,
    planes="head",
    parameters=(
        Parameter(
            FREQUENCY,
            "angle of the plane in one step, trained, d/2 a head; the planes' basis is trained too, an "
            "orthogonal matrix of d(d-1)/2 numbers a head, and a score in it is one in coordinates",
            learned=HEADS * HEAD_DIM**2 / 2,
        ),
    ),
    rotate=lambda position, _: (_action_in_coordinates(position * FREQUENCY),) * 2,
    relation=relative(),
    laws=DISTANCE_LAWS,
    properties=Properties(far="oscillates"),
    recovers=(Recovery("rope", {FREQUENCY: FREQUENCY}), Recovery("grape", {FREQUENCY: SPEED}, attained=False)),
)
"""GRAPE-M on several orthogonal planes: commuting rotations, that is RoPE in a learned basis with learned frequencies.

Plane l is spanned by J a_l and a_l, where J is the quarter turn of every coordinate pair; its generator is
L(a_l, J a_l).
"""

THIN = Encoding(
    name="grape-thin",
    title="GRAPE-M, thin",
    arxiv="2512.07805",
    summary="rotation of learned planes of a subspace (GRAPE-M)",
    options={"rank": Option(default=4, least=2, most=1_024)},
    no_formula="it is commuting planes in a learned subspace, in a basis that no formula names (claim grape-7)",
    relation=relative(),
    caveat=ONE_LAW,
)


RATES = sp.IndexedBase("w", positive=True)
_STEP = sp.Symbol("l", integer=True)


def phase(position: sp.Expr) -> sp.Sum:
    """Phase Phi_t = sum of w_l over 0 <= l < t, as an unevaluated sum in `RATES`.  [P]"""
    return sp.Sum(RATES[_STEP], (_STEP, 0, position - 1))


def contextual_action(phase_: sp.Expr, *, frequency: sp.Expr) -> sp.Matrix:
    """Rotation R2(Phi theta) of one plane, 2 x 2.  [P]"""
    return rotation(phase_ * frequency)


def _contextual_rotation(position: sp.Expr) -> sp.Matrix:
    """Rotation at a position, 2 x 2."""
    return contextual_action(phase(position), frequency=FREQUENCY)


CONTEXTUAL = Encoding(
    name="grape-contextual",
    title="GRAPE-M, contextual",
    arxiv="2512.07805",
    summary="rotation by sums of token rates (GRAPE-M)",
    no_relation=DEPENDS_ON_TOKENS,
    caveat=ONE_LAW,
    planes="head",
    parameters=(
        Parameter(FREQUENCY, "angle of the plane in a phase of 1, shared by heads", learned=HEAD_DIM / 2),
        Parameter(
            RATES,
            "softplus(W x_l + b) of the layer's input, one number per token",
            learned=LAYERS * (WIDTH + 1),
            family=Family.TOKENS,
        ),
    ),
    rotate=lambda position, _: (_contextual_rotation(position), _contextual_rotation(position)),
    laws=(Law.TRANSLATION, Law.NORM, Law.STREAMING),
    properties=Properties(far="oscillates"),
    recovers=(Recovery("rope", {RATES: sp.Integer(1)}),),
)
"""Contextual GRAPE-M: the angle of a position is a phase, the sum of rates computed from the tokens before it."""


UNIT_FRAME = Frame(matrix=sp.ImmutableMatrix([[1]]))
"""Gram matrix of one vector of length 1."""


def partial_reflection(strength: sp.Expr) -> PlaneOperator:
    """Step matrix of PaTH in GRAPE's comparison, I - beta w w^T with |w| = 1, a partial reflection.  [P]"""
    return PlaneOperator(gram=UNIT_FRAME, identity=sp.Integer(1), coefficients=sp.Matrix([[-strength]]))


def reflection_singular_values(strength: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Singular values of the partial reflection: 1 orthogonal to w and |1 - beta| along w.  [P]"""
    return sp.Integer(1), sp.Abs(1 - strength)


GRAPE_SLOPE = sp.Symbol("omega", positive=True)
_QUERY_TAIL = sp.ImmutableMatrix([1, 0])
_KEY_TAIL = sp.ImmutableMatrix([0, 1])


def nilpotent() -> sp.Matrix:
    """Nilpotent matrix E = e_{d+2} e_{d+1}^T on the extra coordinates: E^2 = 0.  [P]"""
    return sp.Matrix([[0, 0], [1, 0]])


def unipotent(generator: sp.Matrix, time: sp.Expr) -> sp.Matrix:
    """Unipotent matrix I + t A, which is exp(t A) for a generator with A^2 = 0.  [P]"""
    return sp.eye(generator.rows) + time * generator


def alibi_generator(*, slope: sp.Expr) -> sp.Matrix:
    """Generator A = -m E of ALiBi, whose unipotent group acts on the two extra coordinates.  [P, GRAPE]"""
    return -slope * nilpotent()


def fox_link(*, log_gate: sp.Expr) -> sp.Matrix:
    """Unipotent factor I - psi E of one step of FoX's path, psi = log f.  [P, GRAPE; its Appendix C prints +]"""
    return unipotent(nilpotent(), -log_gate)


def extended_score(content: sp.Expr, *, query_action: sp.Matrix, key_action: sp.Matrix) -> sp.Expr:
    """Scalar product of the extended query and key after their 2 x 2 actions; `content` is q.k.  [P]"""
    return content + (query_action * _QUERY_TAIL).dot(key_action * _KEY_TAIL)


def additive_bias(slope: sp.Expr, *, query_position: sp.Expr, key_position: sp.Expr) -> sp.Expr:
    """Bias that the group of -omega E adds to q.k.  The query is moved by G(j), the key by G(i)^-T = G(-i)^T.  [P]"""
    generator = -slope * nilpotent()
    query_action, key_action = unipotent(generator, query_position), unipotent(generator, -key_position).T
    return extended_score(sp.Integer(0), query_action=query_action, key_action=key_action)


def lifted(content: Sequence[sp.Expr], tail: sp.Matrix) -> sp.Matrix:
    """Extended vector [q; tail], 4 x 1: one plane of content and the two extra coordinates.  [P]"""
    return sp.Matrix([*content, *tail])


def joint_score(
    query: Sequence[sp.Expr], key: Sequence[sp.Expr], *, query_action: sp.Matrix, key_action: sp.Matrix
) -> sp.Expr:
    """Scalar product of an extended query and key after their 4 x 4 actions, for one plane.  [P]"""
    return (query_action * lifted(query, _QUERY_TAIL)).dot(key_action * lifted(key, _KEY_TAIL))


def linear_offset(there: sp.Matrix, here: sp.Matrix, *, weights: sp.Matrix) -> sp.Expr:
    """Offset m = alpha . (r - r') of two points in the plane or in space, in place of j - i.  [P]"""
    return weights.dot(there - here)


def length_offset(there: sp.Matrix, here: sp.Matrix) -> sp.Expr:
    """Offset m = |r - r'|.  [P, Appendix G; it is not additive]"""
    return sp.sqrt((there - here).dot(there - here))


def shear_singular_values(shear: sp.Expr, *, root: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Singular values root + s/2 and root - s/2 of I + s E on the extra coordinates, s >= 0, root^2 = 1 + s^2/4.  [P]

    The paper writes their squares, 1 + s^2/2 + s root and 1 + s^2/2 - s root.  On the content all are 1.
    """
    return root + shear / 2, root - shear / 2


def shear_condition_number(shear: sp.Expr, *, root: sp.Expr) -> sp.Expr:
    """Condition number sigma_+ / sigma_- = sigma_+^2, since the product of both is 1.  [P]"""
    return shear_singular_values(shear, root=root)[0] ** 2


ADDITIVE = Encoding(
    name="grape-additive",
    title="GRAPE-A",
    arxiv="2512.07805",
    aliases=("grape-a",),
    summary="linear in the distance, slope learned (GRAPE-A)",
    caveat=ONE_LAW,
    parameters=(Parameter(GRAPE_SLOPE, "ALiBi's slope of the head times softplus of a trained number", learned=HEADS),),
    bias=lambda query_position, key_position, _: additive_bias(
        GRAPE_SLOPE, query_position=query_position, key_position=key_position
    ),
    relation=relative(),
    laws=DISTANCE_LAWS,
    properties=Properties(far="falls exponentially", bounded=False, causal_only=True, width="2"),
    recovers=(Recovery("alibi", {GRAPE_SLOPE: biases.ALIBI_SLOPE}),),
)


QUERY_GATES = sp.IndexedBase("lambda_q", positive=True)
KEY_GATES = sp.IndexedBase("lambda_k", positive=True)


def gated_bias(
    slope: sp.Expr, *, query_gate: sp.Expr, key_gate: sp.Expr, query_position: sp.Expr, key_position: sp.Expr
) -> sp.Expr:
    """Bias -omega (j - i) (lambda_q + lambda_k); a gate that a variant does not use is 0.  [P]"""
    return -slope * (query_position - key_position) * (query_gate + key_gate)


def query_features(position: sp.Expr, gate: sp.Expr) -> sp.Matrix:
    """Query features (-j lambda_q, lambda_q, -j, 1), 4 x 1.  [P]

    Their scalar product with `key_features` is a bias of slope 1.
    """
    return sp.Matrix([-position * gate, gate, -position, 1])


def key_features(position: sp.Expr, gate: sp.Expr) -> sp.Matrix:
    """Key features (1, i, lambda_k, i lambda_k), 4 x 1.  [P]"""
    return sp.Matrix([1, position, gate, position * gate])


def content_gate(along: sp.Expr) -> sp.Expr:
    """Gate softplus(w . x / sqrt d) of a query or a key x; `along` is w . x / sqrt d, and |w| = 1.  [P]"""
    return softplus(along)


def _gate_parameter(family: sp.IndexedBase, vector: str) -> Parameter:
    """Parameter for a family of gates."""
    return Parameter(
        family,
        f"`content_gate` of w . {vector} / sqrt d, w of length 1 and trained",
        learned=LAYERS * HEADS * HEAD_DIM,
        family=Family.CONTENT,
        domain=sp.S.EmptySet,
    )


GATED = Encoding(
    name="grape-gated",
    title="GRAPE-A, gated by query and key",
    arxiv="2512.07805",
    summary="linear in the distance, gated (GRAPE-A)",
    options={"gates": Option(default="both", words=("both", "query", "key"))},
    relation=relative(),
    caveat=ONE_LAW,
    parameters=(
        Parameter(GRAPE_SLOPE, "ALiBi's slope times softplus of a trained number", learned=LAYERS * HEADS),
        _gate_parameter(QUERY_GATES, "q_j"),
        _gate_parameter(KEY_GATES, "k_i"),
    ),
    bias=lambda query_position, key_position, _: gated_bias(
        GRAPE_SLOPE,
        query_gate=QUERY_GATES[query_position],
        key_gate=KEY_GATES[key_position],
        query_position=query_position,
        key_position=key_position,
    ),
    laws=DISTANCE_LAWS,
    properties=Properties(
        far="falls exponentially",
        bounded=False,
        causal_only=True,
        width="4",
        learned=LAYERS * HEADS * (2 * HEAD_DIM + 1),
    ),
)
"""GRAPE-A with gates: a linear bias whose slope depends on the query, the key, or both.

It never equals ALiBi on all queries and keys, only where W_q and W_k leave 0 what the gates read (`containment`).
A gate increases with the content along w, and w has length 1, so it cannot be 0 (claim grape-gated).
"""


PATH_SLOPE = sp.Symbol("alpha", positive=True)
EDGES = sp.IndexedBase("psi", negative=True)
INCREMENTS = sp.IndexedBase("a", real=True)
PROBE_DIM = 8
"""Dimension of the probe vectors p in the published runs.  [P]"""


def edge_sum(*, query: sp.Expr, key: sp.Expr, until: sp.Expr) -> sp.Sum:
    """Sum of psi(j, l) over i < l <= until, as an unevaluated sum in `EDGES`.  [P]

    For the bias, `until` is the query position.
    """
    return sp.Sum(EDGES[query, _STEP], (_STEP, key + 1, until))


def path_bias(*, query: sp.Expr, key: sp.Expr) -> sp.Sum:
    """Bias b(j, i) = sum of psi(j, l) over i < l <= j.  [P]"""
    return edge_sum(query=query, key=key, until=query)


def edge_potential(row: Callable[[sp.Expr], sp.Expr], token: sp.Expr) -> sp.Expr:
    """Edge potential psi(j, l) = b(j, l - 1) - b(j, l) into l; `row` is a row of biases, key -> b(j, key).  [F]"""
    return row(token - 1) - row(token)


def affinity(
    query_probe: sp.Matrix, token_probe: sp.Matrix, *, query_position: sp.Expr, token_position: sp.Expr
) -> sp.Expr:
    """Affinity <R_j p_j, R_l p_l> on one plane, R_t a rotation by t.  [F; the paper rotates p_l alone]"""
    return rotary.score(
        query_probe, token_probe, query_position=query_position, key_position=token_position, frequency=sp.Integer(1)
    )


def affinity_potential(affinity_: sp.Expr, *, slope: sp.Expr, probe_dim: sp.Expr) -> sp.Expr:
    """Edge potential psi = alpha log sigma(<p_j, p_l> / d_p), the scalar product summed over planes.  [P]"""
    return slope * log_sigmoid(affinity_ / probe_dim)


def increments(*, key: sp.Expr, query: sp.Expr) -> sp.Sum:
    """Sum of a_l over i < l <= j, for edge potentials that do not depend on the query.  [P]"""
    return sp.Sum(INCREMENTS[_STEP], (_STEP, key + 1, query))


def prefix(position: sp.Expr) -> sp.Sum:
    """Prefix sum A_u = sum of a_l over 0 <= l <= u; the path from i to j is A_j - A_i.  [F; the paper prints l < u]"""
    return sp.Sum(INCREMENTS[_STEP], (_STEP, 0, position))


CONTENT_FREE = affinity_potential(sp.Integer(0), slope=PATH_SLOPE, probe_dim=sp.Integer(PROBE_DIM))
"""Potential -alpha log 2 of every edge if W = 0; no other value is the same for all content.  [F]"""

PATH = Encoding(
    name="grape-path",
    title="GRAPE-AP",
    arxiv="2512.07805",
    aliases=("grape-ap",),
    summary="sums of edge potentials (GRAPE-AP)",
    no_relation=DEPENDS_ON_TOKENS,
    caveat=ONE_LAW,
    parameters=(
        Parameter(
            EDGES,
            "potential of the edge into l for the query j, from probes W x_j and W x_l; ALiBi's slopes",
            learned=LAYERS * HEADS * PROBE_DIM * WIDTH,
            family=Family.TOKENS,
            domain=sp.FiniteSet(CONTENT_FREE),
        ),
        Parameter(PATH_SLOPE, "ALiBi's slope of the head"),
    ),
    bias=lambda query_position, key_position, _: path_bias(query=query_position, key=key_position),
    laws=(Law.TRANSLATION, Law.NORM, Law.STREAMING),
    properties=Properties(far="falls exponentially", bounded=False, causal_only=True, width="none"),
    recovers=(Recovery("alibi", {EDGES: CONTENT_FREE}, at={biases.ALIBI_SLOPE: -CONTENT_FREE}),),
)

ENCODINGS = (GRAPE, COMMUTING, THIN, CONTEXTUAL, ADDITIVE, GATED, PATH)
