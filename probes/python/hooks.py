"""The points of a training program at which treatments act: lists of functions, called in order, empty by default.

A treatment appends its functions while it is applied, before the program's own code runs; the wrappers that call them
(loader.py, optimizer.py, backward.py, forward.py) are put in place afterwards."""

loader_arguments = []  # f(arguments): of DataLoader.__init__ by name, may be changed
optimizer_made = []  # f(optimizer)
batch_given = []  # f(loader): it gave a batch to the training thread
pass_resumes = []  # f(loader): another pass begins with the previous pass's workers
pass_ended = []  # f(loader): it ran out
forward_begins = []  # f(module) -> None or a context manager: before an outermost module call
forward_ends = []  # f(module, output) -> output: after it
backward_begins = []  # f(tensors) -> tensors: the roots, before backward
backward_ends = []  # f(tensors, retains_graph): after it
zero_grad_arguments = []  # f(owner, arguments): of zero_grad by name, may be changed
step_begins = []  # f(optimizer)
step_ends = []  # f(optimizer)
