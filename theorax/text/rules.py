"""Rules that a statement obeys, by the names under which its errors are reported."""

from __future__ import annotations

from collections.abc import Mapping

RULES: Mapping[str, str] = {
    "absolute-margin": (
        "The margin of an exponent, a bound or a probability is absolute: these numbers may be zero or near one. "
        "Write Absolute(1, 10, reason)."
    ),
    "argument-type": (
        "A part of the language was handed a value of a type that has no meaning there. `verify new` writes an example "
        "of each kind of claim."
    ),
    "arguments": (
        "A part of the language was called without an argument that it needs, or with one that it does not have. "
        "`verify new` writes an example of each kind of claim."
    ),
    "array-letter": "An identity compares arrays entry by entry. Declare its letters with arrays(...) or array=True.",
    "average": 'A rate is read from the "mean of log" or from the "log of mean". Write one of these words.',
    "bound-by": (
        "bound_by names the lemma that proves a given bound. A box is bounded by the engine: leave bound_by out there."
    ),
    "box-letters": "A claim over a box holds the parameters of the box alone. Add the letter to over, or measure it.",
    "box-point": "The point of a least value has one coordinate for every letter of over, inside its range.",
    "box-range": "A box gives each parameter a lower and a larger upper end, both admitted by its assumptions.",
    "build-key": (
        "All randomness comes from a key. The first parameter of build is key, the others are letters or options."
    ),
    "content": "The content is the share of draws that may violate a claim unseen. It lies in (0, 1/10].",
    "control-breaks": (
        "A claim fails on a control because a hypothesis is broken. Name the hypothesis in breaking(H.name, "
        "fails=claim)."
    ),
    "corrected": (
        "corrected names the claim of the same theorem that holds in place of the printed one. Add that claim."
    ),
    "corrections": (
        "Corrections vanish as the size grows; a class sharper than the default says why. Write finite positive "
        "powers and a reason."
    ),
    "event": "Only an event has a probability. Write a relation of measured letters, such as s <= 2.",
    "exact-value": "Values of letters are exact. Write an integer or Rational(1, 3), never a float.",
    "feasible": (
        "A least value is attained by a feasible point. Write feasible=..., or unconstrained_because=... if every "
        "point is feasible."
    ),
    "floor": "The floor bounds an absolute error. Write a number of at least zero.",
    "hypothesis-drawn": "A hypothesis is tested on the draws of the claim. Measure its letters in the claim's experiment.",
    "hypothesis-empty": 'A reader must know what is assumed. Write a sentence: hypotheses(name="...").',
    "hypothesis-measured": "A relation tested in every draw holds a measured letter. Add one, or leave holds out.",
    "hypothesis-unbroken": (
        'Each hypothesis is broken by a control on which a claim fails, or says why not: Hypothesis("...", '
        'unbroken="...").'
    ),
    "import": "A theorem is stated by importing its file. Correct the line on which the import stops.",
    "index-values": "A letter measured over an index needs the values of that index. Write along={k: (1, 2, 3)}.",
    "instance-identity": "Only an identity holds instance by instance. Derive a side of any other claim with @derives.",
    "label": "The label says where a statement comes from: own, read, reconstructed or derived.",
    "law-characteristic": (
        "A characteristic function is one at zero and has conjugate symmetry. Correct the expression, or declare "
        "its letters real."
    ),
    "law-converges": (
        "The law cannot be evaluated to the accuracy that a comparison needs. Write it as the image of a smooth "
        "density."
    ),
    "law-covariance": "A covariance is symmetric and has positive variances. Correct the matrix.",
    "law-dimensions": (
        "A vector of letters tends to the law of a vector of the same length. Write one row for each letter."
    ),
    "law-equation": "The equation of a law is a polynomial in x and g with a root like 1/x at infinity.",
    "law-margin": (
        "The margin of a law is its distance to the laws that support excludes. Write excludes=(...), or nothing."
    ),
    "law-mass": "A probability density integrates to one. Divide it by its mass.",
    "law-moment": "Only one number has moments here. Take those of the entries of a vector.",
    "bare-claim": (
        "A claim that compares bare letters or numbers holds no mathematics to show, evaluate or vary. Write the formula, give "
        'the letters a notation, or say why there is none: bare_because="...".'
    ),
    "compared-number": (
        "A number that observe compares with is a bound that no report shows. Return the quantity and claim the bound, or end "
        "the line with `# not a bound: ` and the reason. This is a warning."
    ),
    "letter-assumption": "A letter takes SymPy's assumptions alone, such as positive=True.",
    "letter-closed": 'A letter of which a model takes no other values says why: closed="a sentence".',
    "letter-meaning": (
        'A report tells its reader what a letter stands for. Write the meaning: Parameter("g", "gain of a weight").'
    ),
    "known-mean": (
        "The mean of a variate is known before any draw, at every size, and a reason says why. The variate itself holds a "
        "measured letter. Write KnownMean(of, mean, because=...)."
    ),
    "letter-notation": (
        'A report shows the notation of a letter in place of its name. Write it on one line: notation="sr(X X^T) - 1".'
    ),
    "letter-name": "A letter is typed after --at, so its name is an identifier, and every letter has one.",
    "letter-unset": (
        "Every letter of a claim, of build and of observe has a value: set it in sweep, derived, at, along or "
        "knows, or measure it."
    ),
    "letter-value": (
        "The value of a letter obeys the assumptions of the letter. Correct the value, or drop the assumption."
    ),
    "limit-of-size": (
        "A limit does not depend on the size that tends to infinity. Divide both sides by what grows, or state a Rate."
    ),
    "margin-around-zero": "A relative margin around zero is zero. Write Absolute(...).",
    "margin-missing": (
        "Support means that errors of at least the margin are rejected, so a measured claim needs a margin."
    ),
    "reading": (
        "A claim is read exactly or with its margin. A bound or an identity that one instance refutes is read exactly."
    ),
    "margin-positive": (
        "A margin is a positive distance. Write two positive integers: Absolute(1, 10, reason) is a tenth."
    ),
    "margin-reason": (
        "A margin has a reason: how far away the nearest wrong statement lies. Write it as the third value."
    ),
    "margin-too-wide": "A margin that reaches zero from a probability excludes nothing. Write a smaller margin.",
    "matrix-step-contradiction": (
        "Given equations that no matrices satisfy, or zero alone, prove too much. Leave out the one that does not hold."
    ),
    "matrix-step-given": (
        "A given equation is read as a rule that rewrites its longest word. Give that word a factor that is never zero."
    ),
    "matrix-step-letters": (
        "A MatrixStep compares polynomials in matrices that do not commute. Name anything else by a letter, and say "
        "what it satisfies with given=."
    ),
    "matrix-step-pairs": "An equation has two sides. Write given=((left, right),).",
    "measured-side": "One side of a measured claim is returned by observe. Use a Measured letter there.",
    "moments": (
        'A mean needs a declared tail: "light tails", Bounded(low, high), TwoValues(low, high) or BoundedVariance(v).'
    ),
    "no-claims": "A theorem needs a claim. Put one into claims=dict(...).",
    "no-draws": "An experiment needs a draw. Write draws=64.",
    "no-evidence": "Some subject satisfies every hypothesis of a claim. Add such a subject, or correct under=(...).",
    "no-subjects": 'An experiment needs something to measure. Write subjects={"name": Subject(build)}.',
    "not-measured": (
        "A claim speaks of letters that its experiment measures. Add the letter to measures and return it from observe."
    ),
    "one-bound": "One claim has one bound. Two bounds are two claims.",
    "one-proof": "A claim has one proof that counts. Merge two, or make one a lemma.",
    "one-sweep": "One size runs in an experiment, the others follow it. Put them into derived or at.",
    "option-number": "A compiled program chooses among branches by a number. Make the menu an IntEnum.",
    "planted": (
        "A search shows something only if it finds what is there: planted members, their starts and a tolerance, "
        "or a box instead."
    ),
    "positive-distance": "Every distance is at least zero. Write a positive one.",
    "power-or-exponential": "A rate is a power n**a or an exponential exp(c*n), its exponent free of n.",
    "probability-range": "A claimed probability lies in (0, 1].",
    "proof-of": "A proof names the claims that it speaks of: @derives(claim), @settles(claim) or @lemma.",
    "proof-parameters": "A generator of steps takes the claim or nothing. @lemma takes nothing.",
    "proof-scope": "The docstring of a proof states its scope: for which letters, shapes and sizes it speaks.",
    "proof-symbol": "SymPy simplifies by assumptions. A symbol of a proof assumes what the letter of its name assumes.",
    "python": "Python cannot read the file. Correct the syntax on that line.",
    "quantile": "The order of a quantile lies between 0 and 1. Rational(1, 2) is the median.",
    "rival-range": "Support can exclude a finite range of rival exponents. Write the smallest and the largest.",
    "same-sides": "A check whose sides are one expression cannot fail. Measure the two sides by two programs.",
    "settles-identity": "Only an identity is settled by steps. Write @derives for any other claim.",
    "solved-empty": "Solved has equations, unknowns and solutions. Write Solved(reason, equation, x, root).",
    "solved-values": "A solution has a value for every unknown. Write a mapping.",
    "statement": "The statement has no meaning as it is written. The sentence beside the line says what to write.",
    "stated-side": "One side of a claim is known before any draw. Move the measured letter to the other side.",
    "open-step": (
        "A step of a proof is open: computer algebra failed, was contradicted, or computed something once that nothing "
        "else confirms. Its claims rest on their measurement. Write the step in a form that is computed twice, or cite it."
    ),
    "false-step": (
        "A step of a proof is false: a second route gives another value than one side of it. Correct the side, or exclude "
        "the letters at which it fails by where=."
    ),
    "step-where": "where= of a step is a condition of its letters. Write where=Ne(b, 2 * a).",
    "step-shapes": "A step compares entry by entry. Give both sides the same shape.",
    "stray-symbol": "Every symbol of a claim is a letter with a meaning: Size, Parameter, Index or Measured.",
    "sweep-increasing": "Sizes are positive and increase, each measured once.",
    "sweep-size": "Only a Size runs in a sweep. Declare the letter as a Size.",
    "tends-swept": "The size that tends to infinity is the one that the experiment sweeps. Write as_=n with sweep={n: (...)}.",
    "tends-size": "Only a Size tends to infinity. Declare the letter as a Size.",
    "theorem": "A file closes with `theorem = Theorem(...)`.",
    "title": "The first line of the docstring is the title of the theorem.",
    "unknown-claim": "Subjects and proofs name claims of their own theorem. Add the claim to claims=dict(...).",
    "unknown-hypothesis": "Claims and controls name hypotheses of their own theorem. Declare it in hypotheses(...).",
    "unknown-lemma": (
        "A claim rests on lemmas that the theorem proves. Decorate the steps by @lemma and add them to proofs."
    ),
    "unknown-letter": "A namespace holds the letters that were declared in it. Write one of them.",
    "unknown-option": "A subject is changed in the options that build asks for.",
    "uses": "uses is a tuple of ids of theorems, written out.",
    "which-experiment": (
        'The experiment of a claim is the one that measures its letters. Name it with on="..." if several do.'
    ),
    "variates": (
        "Variates are taken from what is averaged. Claims about means, limits of means and rates of numbers have them, "
        "without quantiles, laws or declared ranges."
    ),
}
"""Sentences by rule: why it stands, and the form to write."""
