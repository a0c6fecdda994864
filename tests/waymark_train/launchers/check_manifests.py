#!/usr/bin/env python3
"""Whether manifests for Kubernetes hold what their kinds know, offline.

    check_manifests.py FILE...

Kinds of Kubernetes itself are checked by kubernetes-validate's schemas, strictly; a TrainJob by the models of
kubeflow-trainer-api, from which it must come back with nothing left out. Exits 1 with what is wrong, 77 without these two
packages.
"""
import sys

try:
    import kubernetes_validate
    import yaml
    from kubeflow_trainer_api import models
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)


def left_out(given, known, path=""):
    """Paths of what is in `given` and not in `known`."""
    if isinstance(given, dict) and isinstance(known, dict):
        for key, value in given.items():
            if key not in known:
                yield f"{path}.{key}"
            else:
                yield from left_out(value, known[key], f"{path}.{key}")
    elif isinstance(given, list) and isinstance(known, list) and len(given) == len(known):
        for i, pair in enumerate(zip(given, known)):
            yield from left_out(*pair, f"{path}[{i}]")
    elif str(given) != str(known):  # numbers as text, as resources have them
        yield path


def problems_of(document):
    if document.get("kind") == "TrainJob":
        try:
            known = models.TrainerV1alpha1TrainJob.from_dict(document)
        except ValueError as error:
            return [str(error)]
        return [f"{path} is not known" for path in left_out(document, known.to_dict())]
    try:
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)
    except kubernetes_validate.ValidationError as error:
        return [f"{'.'.join(map(str, error.path))}: {error.message}"]
    return []


def main():
    bad = 0
    for file in sys.argv[1:]:
        for document in yaml.safe_load_all(open(file, encoding="utf-8")):
            for problem in problems_of(document):
                bad += 1
                print(f"{file}: {document.get('kind')}: {problem}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
