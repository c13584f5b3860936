#!/usr/bin/env bash
# attack: a copy, pickle or prediction of an online learner during partial_fit sees half-trained weights
# now: it sees the state before or after the call; no error, no crash
# test: tests/estimators/test_threads.py::test_copies_during_training_are_of_the_state_between_two_calls
ulimit -v 4000000
timeout 19 python -W ignore -X faulthandler - <<'PY'
import copy, pickle, sys, threading
import numpy as np
import weigh

sys.setswitchinterval(1e-5)
rng = np.random.default_rng(0)
batches = [([" ".join(f"w{rng.integers(500 * k + 9)}" for _ in range(8)) for _ in range(100)], np.arange(100) % 2) for k in range(12)]
errors, torn, done = [], [], threading.Event()
learner = weigh.Perceptron(columns="text").partial_fit(*batches[0])


def repeat(work):
    while not done.is_set():
        try:
            work()
        except Exception as error:
            errors.append(repr(error)[:100])


def copied(again):
    examples = again(learner).model_.certificate.examples
    if examples % 100:
        torn.append(examples)


works = [
    lambda: learner.predict(batches[5][0]),
    lambda: copied(copy.copy),
    lambda: copied(copy.deepcopy),
    lambda: copied(lambda one: pickle.loads(pickle.dumps(one))),
    lambda: pickle.dumps(learner.model_),
]
readers = [threading.Thread(target=repeat, args=(work,), daemon=True) for work in works]
writers = [threading.Thread(target=lambda: [learner.partial_fit(*b) for b in batches * 2], daemon=True) for _ in range(3)]
[thread.start() for thread in readers + writers]
[thread.join() for thread in writers]
done.set()
[thread.join() for thread in readers]
examples = learner.model_.certificate.examples
print(f"{examples:,} of 7,300 examples; {len(torn)} torn copies; {len(errors)} errors {sorted(set(errors))[:2]}")
sys.exit(0 if examples == 7300 and not torn and not errors else 1)
PY
