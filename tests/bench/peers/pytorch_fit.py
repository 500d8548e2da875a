"""Fit steps of fit_bench.cc in PyTorch, eager and compiled, with fused Adam.

The networks are the paper's, three layers of 500 units with SiLU; the dynamics model is a Gaussian
with a bounded log-variance; the classifier takes a batch of 250 rows of which it draws half from a
dynamics network. Every step has rows of its own: a network that is shown the same few rows again
and again learns them by heart, its gradients become denormal numbers, and on such numbers a CPU is
ten times slower, which has nothing to do with PyTorch. Denormal numbers are flushed besides.
"""

import sys

from measure import attempt, best_milliseconds, report

STEPS = 60
ROWS = 2000


def measure(mode):
    import torch

    torch.set_num_threads(1)
    torch.set_flush_denormal("denormals" not in sys.argv)
    torch.manual_seed(1)

    def network(inputs, outputs):
        layers = []
        for before in (inputs, 500, 500):
            layers += [torch.nn.Linear(before, 500), torch.nn.SiLU()]
        return torch.nn.Sequential(*layers, torch.nn.Linear(500, outputs))

    def finish(function):
        return torch.compile(function) if mode == "compiled" else function

    def bounded(log_variance):
        log_variance = 0.5 - torch.nn.functional.softplus(0.5 - log_variance)
        return -10.0 + torch.nn.functional.softplus(log_variance + 10.0)

    def stepper(model, loss_of, make_batch):
        adam = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
        loss_of = finish(loss_of)

        def step():
            batch = make_batch()
            adam.zero_grad()
            loss_of(*batch).backward()
            adam.step()

        return step

    def dynamics(observations, actions, outcomes, batch=128):
        model = network(observations + actions, 2 * outcomes)
        x = torch.randn(ROWS, observations + actions)
        y = torch.randn(ROWS, outcomes)

        def make_batch():
            rows = torch.randint(ROWS, (batch,))
            return x[rows], y[rows]

        def loss(inputs, targets):
            mean, log_variance = model(inputs).chunk(2, dim=1)
            log_variance = bounded(log_variance)
            return ((mean - targets) ** 2 * torch.exp(-log_variance) + log_variance).mean()

        return stepper(model, loss, make_batch)

    def classifier(observations, actions, outcomes, batch=250):
        model = network(observations + actions + outcomes, 1)
        generator = network(observations + actions, 2 * outcomes)
        x = torch.randn(ROWS, observations + actions)
        y = torch.randn(ROWS, outcomes)
        half = batch // 2
        label = torch.cat([torch.ones(half, 1), torch.zeros(half, 1)])
        cross_entropy = torch.nn.BCEWithLogitsLoss()

        def draw(inputs):
            mean, log_variance = generator(inputs).chunk(2, dim=1)
            return mean + torch.exp(0.5 * bounded(log_variance)) * torch.randn_like(mean)

        draw = finish(draw)

        def make_batch():
            rows = torch.randint(ROWS, (half,))
            with torch.no_grad():
                made = draw(x[rows])
            return (torch.cat([torch.cat([x[rows], y[rows]], 1), torch.cat([x[rows], made], 1)]),)

        return stepper(model, lambda inputs: cross_entropy(model(inputs), label), make_batch)

    tool = f"PyTorch, {mode}"
    for name, sizes in (("Swimmer", (8, 2, 9)), ("HalfCheetah", (17, 6, 18)),
                        ("HumanoidStandup", (376, 17, 376))):
        report(tool, "torch", f"dynamics {name}", best_milliseconds(dynamics(*sizes), STEPS))
        if name != "Swimmer":
            report(tool, "torch", f"classifier {name}", best_milliseconds(classifier(*sizes), STEPS))


for mode in ("eager", "compiled"):
    attempt(f"PyTorch, {mode}", lambda mode=mode: measure(mode))
