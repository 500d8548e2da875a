"""Fit steps of fit_bench.cc in PyTorch: eager mode and fused Adam on one thread.

Prints the CPU milliseconds of a step, the best of five rounds. The networks are the paper's, three
layers of 500 units with SiLU; the dynamics model is a Gaussian with a bounded log-variance, the
classifier takes a batch of 250 ready-made rows.
"""

import time

import torch

torch.set_num_threads(1)


def network(inputs, outputs):
    layers = []
    for before in (inputs, 500, 500):
        layers += [torch.nn.Linear(before, 500), torch.nn.SiLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(500, outputs))


def milliseconds_per_step(model, loss_of, steps=100):
    adam = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)

    def step():
        adam.zero_grad()
        loss_of().backward()
        adam.step()

    step()
    best = float("inf")
    for _ in range(5):
        begin = time.thread_time()
        for _ in range(steps):
            step()
        best = min(best, (time.thread_time() - begin) / steps)
    return 1e3 * best


def dynamics(observations, actions, outcomes, batch=128):
    model = network(observations + actions, 2 * outcomes)
    x, y = torch.randn(batch, observations + actions), torch.randn(batch, outcomes)
    high, low = torch.full((outcomes,), 0.5), torch.full((outcomes,), -10.0)

    def loss():
        mean, log_variance = model(x).chunk(2, dim=1)
        log_variance = high - torch.nn.functional.softplus(high - log_variance)
        log_variance = low + torch.nn.functional.softplus(log_variance - low)
        return ((mean - y) ** 2 * torch.exp(-log_variance) + log_variance).mean()

    return milliseconds_per_step(model, loss)


def classifier(inputs, batch=250):
    model = network(inputs, 1)
    x, label = torch.randn(batch, inputs), torch.randint(0, 2, (batch, 1)).float()
    cross_entropy = torch.nn.BCEWithLogitsLoss()
    return milliseconds_per_step(model, lambda: cross_entropy(model(x), label))


print(f"PyTorch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}")
print(f"dynamics 8/2/1      {dynamics(8, 2, 9):.2f} ms")
print(f"dynamics 17/6/1     {dynamics(17, 6, 18):.2f} ms")
print(f"dynamics 376/17/0   {dynamics(376, 17, 376):.2f} ms")
print(f"classifier 17/6/1   {classifier(17 + 6 + 18):.2f} ms")
print(f"classifier 376/17/0 {classifier(376 + 17 + 376):.2f} ms")
