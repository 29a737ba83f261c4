"""All forms by name: a row of a table in analyzers/forms has the same name and says where a program uses it."""

import attention
import contractions
import convolutions
import elementwise
import lookups
import losses
import norms
import products
import recurrent
import selection

FAMILIES = (
    attention,
    contractions,
    convolutions,
    elementwise,
    lookups,
    losses,
    norms,
    products,
    recurrent,
    selection,
)
FORMS = {name: form for family in FAMILIES for name, form in family.FORMS.items()}
