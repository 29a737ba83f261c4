"""Update rules by name: torch's own, and those that weigh each layer's update by its weights' and gradients' norms."""

_MOMENTUM, _NOVOGRAD_DECAY, _TINY = 0.9, 0.98, 1e-8


def of(torch):
    """Name -> (class, options beyond its defaults)."""
    optim = torch.optim
    momentum = {"momentum": _MOMENTUM}
    return {
        "sgd": (optim.SGD, {}),
        "momentum": (optim.SGD, momentum),
        "adam": (optim.Adam, {}),
        "adamw": (optim.AdamW, {"decoupled_weight_decay": True}),
        "lars": (_lars(torch), momentum),
        "lamb": (_lamb(torch), {"decoupled_weight_decay": True}),
        "novograd": (_novograd(torch), momentum),
    }


def _with_gradients(optimizer):
    return [(group, one) for group in optimizer.param_groups for one in group["params"] if one.grad is not None]


def _ratio(torch, a, b):
    """a / b if both are nonzero, else 1: biases may be all zero."""
    return torch.where((a > 0) & (b > 0), a / (b + _TINY), torch.ones_like(a))


def _plain(step):
    """A step without torch's hooks, which the derived class's step already runs."""
    return step.__wrapped__ if getattr(step, "hooked", False) else step


def _evaluated(torch, closure):
    if closure is None:
        return None
    with torch.enable_grad():
        return closure()


def _lars(torch):
    class LARS(torch.optim.SGD):
        """You et al., arXiv 1708.03888."""

        def step(self, closure=None):
            loss = _evaluated(torch, closure)
            with torch.no_grad():
                for _, one in _with_gradients(self):
                    one.grad.mul_(_ratio(torch, one.norm(), one.grad.norm()))
            _plain(torch.optim.SGD.step)(self)
            return loss

    LARS.__init__ = torch.optim.SGD.__init__
    return LARS


def _lamb(torch):
    class LAMB(torch.optim.AdamW):
        """You et al., arXiv 1904.00962."""

        def step(self, closure=None):
            loss = _evaluated(torch, closure)
            before = [one.detach().clone() for _, one in _with_gradients(self)]
            _plain(torch.optim.AdamW.step)(self)
            with torch.no_grad():
                for (group, one), old in zip(_with_gradients(self), before):
                    update = one - old  # it already includes the learning rate
                    if group["lr"] > 0:
                        one.copy_(old + update * _ratio(torch, old.norm(), update.norm() / group["lr"]))
            return loss

    LAMB.__init__ = torch.optim.AdamW.__init__
    return LAMB


def _novograd(torch):
    class NovoGrad(torch.optim.SGD):
        """Ginsburg et al., arXiv 1905.11286."""

        def step(self, closure=None):
            loss = _evaluated(torch, closure)
            with torch.no_grad():
                for _, one in _with_gradients(self):
                    now, state = one.grad.square().sum(), self.state[one]
                    square = state.get("gradient_square")
                    square = now if square is None else _NOVOGRAD_DECAY * square + (1 - _NOVOGRAD_DECAY) * now
                    state["gradient_square"] = square
                    one.grad.div_(square.sqrt() + _TINY)
            _plain(torch.optim.SGD.step)(self)
            return loss

    NovoGrad.__init__ = torch.optim.SGD.__init__
    return NovoGrad
