"""Encodings in torch against numbers that the released code of their papers gives for simple parameters.

The numbers were computed by running the code at the commit that stands above them; none of it is here.  Parameters and
inputs are sines of consecutive integers, see `wave`.  What differs, and why, is in docs/results/released-code.
"""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from lengthgen.empirical.encodings.absolute import Sinusoidal
from lengthgen.empirical.encodings.base import Content
from lengthgen.empirical.encodings.biases import BAM, ALiBi, BAMWithSSMax, KerpleLog, KerplePower
from lengthgen.empirical.encodings.grape import GrapeCommuting, GrapeContextual, GrapeGated, GrapePath
from lengthgen.empirical.encodings.paths import BiasOnlyFoX, Cable, FixedFoX, FoX
from lengthgen.empirical.encodings.prism import PRISM
from lengthgen.empirical.encodings.rotary import SWAT, Rotary, XPos, YaRN
from lengthgen.empirical.encodings.seqpe import SeqPEBias, distillation_loss
from lengthgen.theory.encodings import seqpe

EXACT, DOUBLE, SINGLE = 0.0, 1e-12, 1e-6
"""Relative tolerances: the same number; float64 sums in another order; code that computes a part in float32."""
FOUR = torch.arange(4)


def wave(*shape: int, start: int = 1) -> Tensor:
    """sin(start), sin(start + 1), .., float64."""
    return torch.sin(torch.arange(start, start + math.prod(shape), dtype=torch.float64)).reshape(shape)


def last_row(encoding, content=None) -> Tensor:
    """Bias of the last of four tokens, float64 [H, 4]."""
    bias = encoding.bias(FOUR, FOUR, content, dtype=torch.float64)
    return bias.reshape(-1, 4, 4)[:, 3]


def with_values(encoding, **values: Tensor):
    """Encoding in float64 with these parameters."""
    encoding = encoding.double()
    for name, value in values.items():
        parameter = getattr(encoding, name)
        parameter.data = value.reshape(parameter.shape).double()
    return encoding


def bam() -> Tensor:
    encoding = with_values(
        BAM(heads=2, location=True), log_scale=wave(2), exponent=wave(2, start=7), shift=wave(2, start=3)
    )
    return encoding.bias(FOUR, FOUR, dtype=torch.float64)[:, 2]


def bam_ssmax() -> Tensor:
    values = {"log_scale": wave(2), "exponent": wave(2, start=7), "factors": wave(2, start=13)}
    encoding = with_values(BAMWithSSMax(heads=2, layers=1), **values)
    x_BHLC = wave(1, 4, 2, 2).transpose(1, 2)
    queries, keys = encoding.rotate(x_BHLC, x_BHLC, FOUR)
    return (queries @ keys.mT)[0, :, 3] / math.sqrt(2) + last_row(encoding)


def cable() -> Tensor:
    encoding = with_values(Cable(width=4, heads=2, layers=1), weight=wave(2, 4, start=20), offset=wave(2, start=5))
    return last_row(encoding, Content(x_BLD=wave(1, 4, 4)))


def fox() -> Tensor:
    encoding = with_values(FoX(width=4, heads=2, layers=1), weight=wave(2, 4, start=20), offset=wave(2, start=5))
    return last_row(encoding, Content(x_BLD=wave(1, 4, 4)))


def fox_bias_only() -> Tensor:
    return with_values(BiasOnlyFoX(heads=3, layers=1), logits=torch.tensor([-2.0, 0, 3])).log_gates(0)


def kerple_power_outside() -> Tensor:
    return last_row(with_values(KerplePower(heads=2), scale=wave(2, start=4), exponent=3 * wave(2, start=8)))


def gated(**options) -> GrapeGated:
    encoding = GrapeGated(heads=3, head_dim=4, layers=1, **options)
    vectors = {"query_vectors": wave(3, 4, start=30), "key_vectors": wave(3, 4, start=40)}
    used = {name: value for name, value in vectors.items() if getattr(encoding, name) is not None}
    # The code adds no log(e - 1): its parameter starts there.
    factors = torch.zeros(3) if options.get("gates") == "query" else wave(3) - math.log(math.e - 1)
    return with_values(encoding, log_factors=factors, **used)


def grape_gated(**options) -> Tensor:
    queries, keys = wave(1, 4, 3, 4).transpose(1, 2), wave(1, 4, 3, 4, start=60).transpose(1, 2)
    return last_row(gated(**options), Content(q_BHJC=queries, k_BHIC=keys))


def grape_commuting() -> Tensor:
    encoding = with_values(GrapeCommuting(heads=3, head_dim=4), log_ratios=wave(3, 2, start=50))
    # Plane l of the code is coordinates l and l + C/2, and it turns the other way.
    order = [2, 0, 3, 1]
    vectors = [wave(1, 4, 3, 4, start=start).transpose(1, 2)[..., order] for start in (1, 60)]
    both = torch.stack(encoding.rotate(*vectors, FOUR))[:, 0, :, 3]
    return both[..., torch.tensor(order).argsort()]


def grape_contextual() -> Tensor:
    encoding = with_values(
        GrapeContextual(width=4, head_dim=2, layers=1),
        weights=wave(1, 4, start=20),
        offsets=wave(1, start=5) - math.log(math.e - 1),
    )
    return encoding.phases(FOUR, Content(x_BLD=wave(1, 4, 4)))


def grape_path() -> Tensor:
    encoding = with_values(GrapePath(heads=2, width=16, layers=1), probes=wave(2, 8, 16, start=20) / 8)
    return last_row(encoding, Content(x_BLD=wave(1, 4, 16)))


def seqpe_encoding() -> SeqPEBias:
    encoding, at = SeqPEBias(width=4, heads=2, digits=2).double(), 0
    read = encoding.encoder
    parameters = [read.tokens, read.slots, read.last]
    for block in read.blocks:
        for layer in (block.attention_norm, block.mlp_norm, block.qkv, block.merged, block.up, block.down):
            parameters += [layer.weight, layer.bias]
    for layer in (read.norm, read.out, encoding.query_key):
        parameters += [layer.weight, layer.bias]
    for parameter in parameters:
        parameter.data = wave(*parameter.shape, start=at)
        at += parameter.numel()
    return encoding


def seqpe_contrastive() -> Tensor:
    pivots, candidates = wave(2, 4, start=90), wave(2, 3, 4, start=11)
    scores = (candidates @ pivots[..., None])[..., 0].tolist()
    pairs = zip(scores, (1, 2), strict=True)
    return torch.tensor([sum(float(seqpe.contrastive(of_pivot, label)) for of_pivot, label in pairs) / 2])


def seqpe_distillation() -> Tensor:
    near, far = wave(5, 4, start=3)[[0, 2, 3]], wave(3, 4, start=70)
    return distillation_loss(*(codes.view(1, 3, 2, 2).transpose(1, 2) for codes in (near, far)))[None]


def prism(gates: Tensor) -> Tensor:
    encoding = PRISM(width=2, positions=5).double()  # gamma = 1.5 at first
    encoding.sharpness.data = torch.tensor(math.log(math.expm1(0.5)), dtype=torch.float64)
    return encoding.histograms(gates[None], torch.arange(len(gates)) == 0)[0, -1]


def prism_without_resets() -> Tensor:
    moves = wave(6, 3).softmax(-1)
    return prism(torch.cat([torch.zeros(6, 1), moves], -1))


def prism_resets_without_increments() -> Tensor:
    moves, reset = wave(6, 2, start=9).softmax(-1), wave(6, 1, start=2).sigmoid()
    none = torch.zeros(6, 1, dtype=torch.float64)
    with_resets = torch.cat([reset, none, (1 - reset) * moves], -1)
    return prism(torch.cat([torch.cat([none, wave(6, 3).softmax(-1)], -1)[:4], with_resets[:2]]))


def randomized_rotary() -> Tensor:
    x_BHLC = wave(1, 3, 1, 4).transpose(1, 2)
    return Rotary(head_dim=4, layout="interleaved").rotate(x_BHLC, x_BHLC, torch.tensor([45, 55, 59]))[0]


def randomized_sinusoidal() -> Tensor:
    return Sinusoidal(width=4).code(torch.tensor([1, 7]))[:, [0, 2, 1, 3]]


def randomized_alibi() -> Tensor:
    encoding, three = ALiBi(heads=3), torch.arange(3)
    before = (three < 1) / 2  # half a slope less for keys before the query, which has the position 1
    slopes = torch.tensor(encoding.slopes, dtype=torch.float64)
    return encoding.bias(three, three, dtype=torch.float64)[:, 1] + slopes[:, None] * before


def xpos() -> Tensor:
    encoding = XPos(head_dim=4, scale_base=2)
    rotated = encoding.rotate(wave(1, 1, 4, 4), wave(1, 1, 4, 4, start=60), FOUR)
    return encoding.scores(*rotated, FOUR, FOUR)[..., 3, :]


def yarn() -> Tensor:
    encoding = YaRN(head_dim=16, trained_length=256, scale=4, ramp="code")
    return torch.cat([encoding.frequencies(4), torch.tensor([encoding.magnitude()])])


# fmt: off
REFERENCES: dict[str, tuple[Callable[[], Tensor], float, list[float]]] = {
    # ArthurSBianchessi/BAM, models/bam.py, 9891050596e5f48dba3759387645372c232b822d
    "bam": (bam, DOUBLE, [
        -3.9902788642166707, -2.732696606847519, -1.012666549746932, -1.8640496089854375,
        -0.8481681388403561, -1.6514262362244483, -4.104520608238866, -6.5408424758354515]),
    # the same, models/bam_ssmax.py with theta_alpha; the logarithm of the number of keys is float32
    "bam-ssmax": (bam_ssmax, SINGLE, [
        -2.2642920778859734, -2.4105287523029872, -1.5018646961820852, 0.47618229282737035,
        -9.808238526793177, -6.630170193578437, -3.8907390647167994, 0.49108270190001896]),
    # axiomlab/Cable, src/Cable.py, 2d7410b4e5c7d65e8a57f98a89a792da5642e5f5
    "cable": (cable, DOUBLE, [
        -1.4681191422374082, -1.4151360807391296, -0.9686929582845609, 0.0,
        -2.784846689615336, -0.5932252489642309, -0.4480482862742017, 0.0]),
    # chijames/KERPLE, megatron/mpu/layers.py, 73f1ee2d24722cdbe277d473899321218f5cbd00
    "kerple-log": (lambda: last_row(with_values(KerpleLog(heads=2), scale=wave(2), rate=wave(2, start=7))), DOUBLE, [
        -0.9162651873970127, -0.7059655848809397, -0.4249433949021595, 0.0,
        -1.2532673893824111, -0.9924913223517385, -0.6254257704796339, 0.0]),
    "kerple-power": (
        lambda: last_row(with_values(KerplePower(heads=2), scale=wave(2), exponent=wave(2, start=7))), DOUBLE, [
            -1.7318146762741446, -1.3268194168089102, -0.8414709848078965, 0.0,
            -2.6961857567291174, -1.8052297032666687, -0.9092974268256817, 0.0]),
    "kerple-power, parameters out of bounds": (kerple_power_outside, DOUBLE, [
        -0.09, -0.04, -0.01, 0.0, -0.03889479316304456, -0.023560259927523433, -0.01, 0.0]),
    # zhixuan-lin/forgetting-transformer, the test of ops/forgetting_attention.py,
    # 0c44f84b22d86512a7be0f6544fe88961b677bbd
    "fox": (fox, DOUBLE, [
        -4.462888256800179, -1.4987306792985353, -0.4773567402564476, 0.0,
        -3.138525835627195, -3.0200401952500204, -1.0185278926480654, 0.0]),
    # modeling_forgetting_transformer.py, 246d5e3f9c608d7a32141ba642bbb6babec5a35d; float32
    "fox-fixed": (lambda: FixedFoX(heads=4, shortest=2, longest=2048).log_gates(0), SINGLE, [
        -0.5, -0.049606285989284515, -0.004921567160636187, -0.00048828122089616954]),
    "fox-bias-only": (fox_bias_only, SINGLE, [-2.1269280910491943, -0.6931471824645996, -0.04858735203742981]),
    # yifanzhang-pro/GRAPE, model/llama-mha-grape-a-querykeygated.py, 7f1449dee39e958b69ba5df15995a3a34816f4d3; float32
    "grape-gated": (grape_gated, SINGLE, [
        -0.4042043685913086, -0.3013584017753601, -0.16045790910720825, 0.0,
        -0.02541813626885414, -0.018517721444368362, -0.009611379355192184, 0.0,
        -1.1064409017562866, -0.7974044680595398, -0.40294912457466125, 0.0]),
    "grape-gated, keys": (lambda: grape_gated(gates="key"), SINGLE, [
        -0.17463450133800507, -0.1483118236064911, -0.08393462002277374, 0.0,
        -0.01196899265050888, -0.009551627561450005, -0.005128331948071718, 0.0,
        -0.5365192294120789, -0.4174567461013794, -0.21297524869441986, 0.0]),
    # tensorgi/GRAPE, model/llama-mha-grape-a-querygated.py, 093e7310419e3d36e2bac4c413dde843214f4ab4, at omega = 1
    "grape-gated, queries": (lambda: grape_gated(gates="query"), SINGLE, [
        -0.1913245539992753, -0.12754970266618354, -0.06377485133309177, 0.0,
        -0.010778520109100131, -0.0071856800727334216, -0.0035928400363667108, 0.0,
        -0.7438342121571644, -0.49588947477144296, -0.24794473738572148, 0.0]),
    # tensorgi/GRAPE, a7ee6514a0a98da91253f610c534e9d3a34f8eff: llama-mha-grape-m-nonctx.py; float32
    "grape-commuting": (grape_commuting, 5 * SINGLE, [
        1.1462032794952393, 0.33952796459198, -0.17105770111083984, 0.7264630794525146,
        -0.7860519886016846, -0.914822518825531, 0.3148534297943115, 0.05852269008755684,
        -0.0005930587649345398, 0.8932527303695679, -0.8598294854164124, -0.7781625390052795,
        -1.0855777263641357, 0.3203947842121124, -0.3431221544742584, -1.0197370052337646,
        1.0733380317687988, 0.4793359637260437, 0.30664652585983276, 0.6022285223007202,
        -0.6730790138244629, -0.9684363603591919, 0.4232514500617981, 0.19548410177230835]),
    # model-architectures/GRAPE, 73b223161fde54b3b74b6c12536ebcf3ad5f9d4f: llama-mha-grape-m-ctx.py
    "grape-contextual": (grape_contextual, DOUBLE, [0.0, 1.4703866742322345, 1.5233697357305132, 1.9698128581850818]),
    # tensorgi/GRAPE, llama-mha-grape-ap-v1.py, with both probes rotated and neither normalised
    "grape-path": (grape_path, DOUBLE, [
        -0.12941350881878888, -0.08171437194376194, -0.02609785073912496, 0.0,
        -0.008245145254216962, -0.005194481141198213, -0.001699663396980109, 0.0]),
    # ghrua/seqpe, custom_modules of text_seq_pe, 289305de6555494f4e799e9f539589ce44cbd890
    "seqpe": (lambda: seqpe_encoding().codes(torch.tensor([0, 7, 42]), torch.float64), DOUBLE, [
        -1.6182911256393746, -0.6571689898392667, 1.3606021453450392, 0.051103038893210107,
        -1.6049253544308253, -0.6561932587008698, 1.3459608132679075, 0.0692677343811392,
        -1.6024379919918115, -0.6994359608740374, 1.4000040836776857, 0.04186035864638904]),
    "seqpe, bias": (
        lambda: seqpe_encoding().bias(*[torch.tensor([0, 7, 42])] * 2, dtype=torch.float64), DOUBLE, [
            -4.083063384391534, -4.0725573606218965, -4.092565271423394, -4.079342564004178, -4.0689514250525995,
            -4.088872394004326, -4.099957072229695, -4.089420612284608, -4.109502802938252, -5.250723533131798,
            -5.235103775284931, -5.282410473941597, -5.247745110613732, -5.232155268386882, -5.279419405251916,
            -5.286789515133497, -5.27109873197128, -5.318703282204243]),
    "seqpe, contrastive loss": (seqpe_contrastive, SINGLE, [0.14535786834083686]),
    "seqpe, distillation loss": (seqpe_distillation, DOUBLE, [0.06901914398059908]),
    # philee101/prism-extrapolation, PRISMv10.3.25a, c4543514957c0e4885cf5ad8c7ebb98224819fb4, one-sided filter, eps = 0
    "prism, no resets": (prism_without_resets, DOUBLE, [
        0.4697656433264557, 0.4417729701169749, 0.07941272340843322, 0.008898046878178825, 0.0001506162699575062]),
    "prism, resets without increments": (prism_resets_without_increments, DOUBLE, [
        0.9998405461700351, 0.00015720069419392272, 2.2469859517046656e-06, 6.149640031579766e-09,
        1.7926379364326765e-13]),
    # Fzkuji/swat-attention, fla/layers/swat_attn.py, 2898e5d09e88a5e64514e9bd0d025f902066eb40: minus its slopes
    "swat, slopes": (lambda: torch.tensor(SWAT(heads=8, head_dim=2, slopes="positive").slopes), EXACT, [
        0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625]),
    # google-deepmind/randomized_positional_encodings, models/positional_encodings.py,
    # 57bc5d01d118d948743ef49ec62ab824fc8bd508; rotary frequencies are float32
    "randomized, rotary": (randomized_rotary, 10 * SINGLE, [
        -0.3316811856718865, 1.193684522309019, 0.4562540980110281, -0.6200782971876815, -0.30056496570246316,
        0.9525069176940189, 0.042972236579106426, 1.1868506860222952, 0.028622513021084872, 0.6818954057642126,
        -0.5324043298887824, -1.0022158595683495]),
    "randomized, sinusoidal": (randomized_sinusoidal, DOUBLE, [
        0.8414709848078965, 0.009999833334166664, 0.5403023058681398, 0.9999500004166653,
        0.6569865987187891, 0.06994284733753277, 0.7539022543433046, 0.9975510002532796]),
    "randomized, alibi": (randomized_alibi, EXACT, [
        -0.03125, 0.0, -0.0625, -0.001953125, 0.0, -0.00390625, -0.125, 0.0, -0.25]),
    # ofirpress/attention_with_linear_biases, fairseq/models/transformer.py, 3b7c2eca8397d27be08c6dffad9b60855507f9b7
    "alibi": (
        lambda: ALiBi(heads=6).bias(torch.tensor([9]), torch.tensor([7]), dtype=torch.float64), EXACT, [
            -0.5, -0.125, -0.03125, -0.0078125, -1.0, -0.25]),
    # microsoft/torchscale, torchscale/component/xpos_relative_position.py, 776b070d68aef2aca447dc3e1adb64682fbec126;
    # sines are float32
    "xpos": (xpos, SINGLE, [-0.11225781379419389, -0.14990854971141132, 0.4272868323462719, -1.0927520833940592]),
    # jquesnelle/yarn, scaled_rope/LlamaYaRNScaledRotaryEmbedding.py, a18e54988639030e706f6ff9db224cf74e08a65a; float32
    "yarn": (yarn, SINGLE, [
        1.0, 0.2569350600242615, 0.0625, 0.013834965415298939, 0.0024999999441206455, 0.0007905694656074047,
        0.0002500000118743628, 7.905694656074047e-05, 1.138629436111989]),
}
# fmt: on


@pytest.mark.parametrize("name", REFERENCES)
def test_the_numbers_are_those_of_the_released_code(name):
    compute, tolerance, numbers = REFERENCES[name]
    computed = compute().detach().double().flatten()
    expected = torch.tensor(numbers, dtype=torch.float64)
    torch.testing.assert_close(computed, expected, rtol=tolerance, atol=tolerance / 10)
