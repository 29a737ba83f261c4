"""torch.compile, jit, fx, export."""

SCRIPTS = {
    "compiled_zero_grad": """
@torch.compile(fullgraph=True, backend="eager")
def whole(x):
    model.zero_grad()
    return model(x).sum()
print(whole(torch.ones(3, 4)))
""",
    "compiled_step": """
warnings.simplefilter("error", UserWarning)
compiled = torch.compile(lambda: optimizer.step(), backend="eager")
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(3, 4)).sum().backward()
    compiled()
""",
    "compiled_graphs": """
import torch._dynamo as dynamo
def loop(x, y):
    optimizer.zero_grad()
    loss = (model(x).squeeze(1) - y).square().mean()
    loss.backward()
    optimizer.step()
    return loss
found = dynamo.explain(loop)(torch.ones(3, 4), torch.ones(3))
print(found.graph_count, found.graph_break_count, [str(one.reason) for one in found.break_reasons])
""",
    "compiled_model": """
compiled = torch.compile(model, backend="eager")
for x, y in loader:
    optimizer.zero_grad()
    loss = (compiled(x).squeeze(1) - y).square().mean()
    loss.backward()
    optimizer.step()
print(loss)
""",
    "scripted": "print(torch.jit.script(model)(torch.ones(2, 4)), torch.jit.trace(model, torch.ones(2, 4)).code)",
    "symbolic_trace": "print(torch.fx.symbolic_trace(model).graph)",
    "exported": "print(torch.export.export(model, (torch.ones(2, 4),)).graph_module.code)",
    "functional": """
from torch.func import functional_call, grad
weights = dict(model.named_parameters())
print(grad(lambda w: functional_call(model, w, torch.ones(2, 4)).sum())(weights)["0.weight"])
""",
}
