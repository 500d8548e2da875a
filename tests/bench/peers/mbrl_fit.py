"""Dynamics steps of fit_bench.cc with mbrl-lib's ensemble, for one member of one and of five."""

from measure import attempt, best_milliseconds, report


def measure():
    import torch
    from mbrl.models import GaussianMLP

    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)
    rows, batch, inputs, outcomes = 2000, 128, 23, 18
    x, y = torch.randn(rows, inputs), torch.randn(rows, outcomes)
    for members in (1, 5):
        model = GaussianMLP(inputs, outcomes, "cpu", num_layers=3, ensemble_size=members,
                            hid_size=500, activation_fn_cfg={"_target_": "torch.nn.SiLU"})
        adam = torch.optim.Adam(model.parameters(), lr=1e-3)

        def step():
            picked = torch.randint(rows, (members, batch))
            model.update(x[picked], adam, y[picked])

        report(f"mbrl-lib, ensemble of {members}", "mbrl", "dynamics HalfCheetah",
               best_milliseconds(step, 40) / members)


attempt("mbrl-lib", measure)
