"""The retriever of waymark-train written plainly in PyTorch: what bench/training_speed.sh compares it with.

    eager_retriever.py check SEQUENCES PACKAGE LOSSES      loss by loss against waymark-train, from the package's weights
    eager_retriever.py time SEQUENCES STEPS                events/s of steps with the options that suit Amazon Beauty

SEQUENCES: a user a line, then the items in order; the newest one tests, the second newest validates. Tokens of a batch
are packed one behind the other; attention alone pads, to the longest window of the batch. One thread,
timed by the processor's clock.
"""
import json
import math
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

TIME_BUCKETS, CONTENT_WIDTH, HEADS, BLOCKS, WIDTH, HIDDEN, TEMPERATURE = 32, 32, 2, 2, 64, 128, 0.07
# 0 for simultaneous events, else a bucket for each doubling of the seconds between them
BUCKET_STARTS = torch.tensor([2**k - 1 for k in range(1, TIME_BUCKETS)])


class Batch:
    """Windows of events, packed; and where each lies when they are padded."""

    def __init__(self, windows):
        self.inputs = torch.cat([w[:-1] for w in windows])
        self.targets = torch.cat([w[1:] for w in windows])
        lengths = torch.tensor([len(w) - 1 for w in windows])
        longest = int(lengths.max())
        inside = torch.arange(longest) < lengths[:, None]
        self.places = inside.flatten().nonzero().squeeze(1)
        self.rows, self.longest = len(windows), longest
        at = torch.arange(longest)
        self.distance = (at[:, None] - at).clamp(min=0)
        self.bucket = torch.bucketize(self.distance, BUCKET_STARTS, right=True)  # an event a second
        self.future = at[:, None] < at


class Block(nn.Module):
    def __init__(self, history, dropout):
        super().__init__()
        self.attention_norm, self.feed_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention_input, self.attention_output = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.feed_input, self.feed_output = nn.Linear(WIDTH, 2 * HIDDEN + WIDTH), nn.Linear(HIDDEN, WIDTH)
        self.position = nn.Parameter(torch.zeros(HEADS, history))  # the last one is of distance 0
        self.time = nn.Parameter(torch.zeros(HEADS, TIME_BUCKETS))
        self.dropout = dropout

    def attend(self, q, k, v, batch):
        def padded(x):
            full = x.new_zeros(batch.rows * batch.longest, WIDTH).index_copy(0, batch.places, x)
            return full.view(batch.rows, batch.longest, HEADS, WIDTH // HEADS).transpose(1, 2)

        bias = self.position.flip(1)[:, batch.distance] + self.time[:, batch.bucket]
        scores = padded(q) @ padded(k).transpose(2, 3) / math.sqrt(WIDTH // HEADS) + bias
        weights = scores.masked_fill(batch.future, -math.inf).softmax(-1)
        return (weights @ padded(v)).transpose(1, 2).reshape(-1, WIDTH)[batch.places]

    def forward(self, x, batch):
        q, k, v, gate = self.attention_input(self.attention_norm(x)).chunk(4, -1)
        y = self.attention_output(self.attend(q, k, v, batch))
        x = x + F.dropout(torch.sigmoid(gate) * y, self.dropout, self.training)
        a, u, gate = self.feed_input(self.feed_norm(x)).split([HIDDEN, HIDDEN, WIDTH], -1)
        return x + F.dropout(torch.sigmoid(gate) * self.feed_output(F.silu(a) * u), self.dropout, self.training)


class Retriever(nn.Module):
    def __init__(self, items, history, dropout, sparse=False):
        super().__init__()
        self.ids = nn.Embedding(items, WIDTH, sparse=sparse)
        self.blocks = nn.ModuleList(Block(history, dropout) for _ in range(BLOCKS))
        self.final_norm = nn.LayerNorm(WIDTH)
        self.dropout = dropout
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def load(self, folder):
        weights = read_safetensors(f"{folder}/weights.safetensors")

        def put(parameter, name):
            with torch.no_grad():
                parameter.copy_(weights[name])

        put(self.ids.weight, "items.id")
        for b, block in enumerate(self.blocks):
            for branch in "attention", "feed":
                for part in "norm", "input", "output":
                    for kind in "weight", "bias":
                        put(getattr(getattr(block, f"{branch}_{part}"), kind), f"blocks.{b}.{branch}.{part}.{kind}")
            put(block.position, f"blocks.{b}.attention.position")
            put(block.time, f"blocks.{b}.attention.time")
        put(self.final_norm.weight, "final.norm.weight")
        put(self.final_norm.bias, "final.norm.bias")

    def loss(self, batch, negatives):
        """Mean cross-entropy of each token's target against it and the negatives; a target among them counts once."""
        x = F.dropout(self.ids(batch.inputs), self.dropout, self.training)
        for block in self.blocks:
            x = block(x, batch)
        states = F.normalize(self.final_norm(x), dim=-1) / TEMPERATURE
        contrasted, targets = F.normalize(self.ids(negatives), dim=-1), F.normalize(self.ids(batch.targets), dim=-1)
        positive = (states * targets).sum(-1, keepdim=True)
        logits = (states @ contrasted.T).masked_fill(batch.targets[:, None] == negatives, -math.inf)
        return (torch.cat([logits, positive], 1).logsumexp(1) - positive.squeeze(1)).mean()


def read_safetensors(file):
    raw = open(file, "rb").read()
    end = 8 + int.from_bytes(raw[:8], "little")
    tensors = {}
    for name, t in json.loads(raw[8:end]).items():
        if name == "__metadata__":
            continue
        first, last = t["data_offsets"]
        tensors[name] = torch.from_numpy(np.frombuffer(raw[end + first : end + last], np.float32).copy()).view(t["shape"])
    return tensors


def read_sequences(file, vocabulary=None):
    """What is trained on, as rows of the vocabulary."""
    lines = [line.split()[1:-2] for line in open(file)]
    items = vocabulary or sorted({item for line in lines for item in line})
    rows = {item: r for r, item in enumerate(items)}
    return [torch.tensor([rows[item] for item in line]) for line in lines if len(line) > 1], len(items)


class Steps:
    """One optimizer for the encoder and one for the table; gradients are clipped by the norm of all."""

    def __init__(self, model, table):
        self.model, table_rows = model, list(model.ids.parameters())
        others = [p for n, p in model.named_parameters() if not n.startswith("ids.")]
        self.parameters = others + table_rows
        adam = dict(betas=(0.9, 0.98), eps=1e-8)
        if table == "sparse":
            self.optimizers = [torch.optim.Adam(others, **adam, fused=True), torch.optim.SparseAdam(table_rows, **adam)]
        else:
            self.optimizers = [torch.optim.Adam(self.parameters, **adam, fused=table == "fused")]

    def run(self, batch, negatives, rate):
        loss = self.model.loss(batch, negatives)
        loss.backward()
        table = self.model.ids.weight
        if table.grad.is_sparse:
            table.grad = table.grad.coalesce()
        gradients = [p.grad._values() if p.grad.is_sparse else p.grad for p in self.parameters]
        scale = 5 / (torch.nn.utils.get_total_norm(gradients) + 1e-12)
        if scale < 1:
            for g in gradients:
                g.mul_(scale)
        for optimizer in self.optimizers:
            optimizer.param_groups[0]["lr"] = rate
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return loss.item()


def check(sequences, package, losses):
    """One batch of everything, full softmax, no dropout: nothing is random, and every row has a gradient."""
    vocabulary = open(f"{package}/items.txt").read().split("\n")
    vocabulary = vocabulary[:-1] if vocabulary[-1] == "" else vocabulary
    windows, items = read_sequences(sequences, vocabulary)
    theirs = [float(line.split()[1]) for line in open(losses)]
    history = read_safetensors(f"{package}/weights.safetensors")["blocks.0.attention.position"].size(1)
    assert max(len(w) for w in windows) - 1 <= history
    model = Retriever(items, history, 0.0)
    model.load(package)
    steps, batch, every = Steps(model, "dense"), Batch(windows), torch.arange(items)
    worst = 0
    for s, other in enumerate(theirs):
        rate = 3e-3 * min(1, (s + 1) / 100) * (1 - s / len(theirs) * 0.98)
        own = steps.run(batch, every, rate)
        worst = max(worst, abs(own - other) / other)
        print(f"  step {s + 1}: PyTorch {own:.6f}, waymark-train {other:.6f}")
    print(f"  largest relative difference {worst:.1e}")
    return 0 if worst < 1e-4 and len(theirs) > 1 else 1


def time_steps(sequences, count):
    history, tokens_of_batch = 50, 1024
    sequences, items = read_sequences(sequences)
    windows = [w[max(0, end - history - 1) : end] for w in sequences for end in range(len(w), 1, -history)]
    order = torch.randperm(len(windows), generator=torch.Generator().manual_seed(1)).tolist()
    batches, now, tokens = [], [], 0
    for w in order:
        now.append(windows[w])
        tokens += len(windows[w]) - 1
        if tokens >= tokens_of_batch:
            batches.append(now)
            now, tokens = [], 0
    for table in "dense", "fused", "sparse":
        torch.manual_seed(1)
        steps = Steps(Retriever(items, history, 0.4, sparse=table == "sparse"), table)
        seen, start = 0, 0
        for s in range(count + 5):
            if s == 5:  # the first ones warm up
                seen, start = 0, time.process_time()
            batch = Batch(batches[s % len(batches)])
            steps.run(batch, torch.randint(items, (2048,)).unique(), 3e-3 * min(1, (s + 1) / 100))
            seen += len(batch.inputs)
        print(json.dumps({"table": table, "events_per_second": seen / (time.process_time() - start)}))


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1] == "check":
        sys.exit(check(*sys.argv[2:5]))
    time_steps(sys.argv[2], int(sys.argv[3]))
