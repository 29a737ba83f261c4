"""All forms by name: a row of a table in analyzers/forms has the same name and says where a program uses it."""

import attention
import elementwise
import lookups
import losses
import products
import recurrent
import selection

FORMS = {
    name: form
    for family in (attention, elementwise, lookups, losses, products, recurrent, selection)
    for name, form in family.FORMS.items()
}
