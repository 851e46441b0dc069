"""The published client of the current revision against a running server: argv[1] is its host:port."""
import array
import io
import sys
import types
from datetime import datetime

import pilosa
import roaring.roaring
from pilosa import Client, TimeQuantum
from pilosa import client as client_module
from pilosa.imports import Column, FieldValue

class OldArray(array.array):
    """The client's bitmaps call a method by the name it had before Python 3.9."""

    tostring = array.array.tobytes


roaring.roaring.array = types.SimpleNamespace(array=OldArray)


def roaring_request(_self, bitmaps, _clear):
    """The client's own, without setting Clear, which is the name of a method in today's protobuf library."""
    request = client_module.internal.ImportRoaringRequest()
    for name, bitmap in bitmaps.items():
        data = io.BytesIO()
        bitmap.write_to(data)
        view = request.views.add()
        view.Name = name
        view.Data = data.getvalue()
    return request.SerializeToString()


client_module._ImportRequest._make_roaring_request = roaring_request

client = Client(sys.argv[1])
schema = client.schema()
index = schema.index("people", track_existence=True)
likes = index.field("likes")
seen = index.field("seen", time_quantum=TimeQuantum.YEAR_MONTH_DAY)
age = index.field("age", int_min=-10, int_max=2 ** 62)
team = index.field("team", mutex=True)
member = index.field("member", bool=True)
client.sync_schema(schema)
client.sync_schema(schema)


def run(query, **options):
    return client.query(query, **options)


batch = index.batch_query(likes.set(5, 42), likes.set(5, 1048577), likes.set(6, 42), likes.set(6, 42))
assert [result.changed for result in run(batch).results] == [True, True, True, False]
assert run(likes.row(5)).result.row.columns == [42, 1048577]
assert run(index.count(index.intersect(likes.row(5), likes.row(6)))).result.count == 1
assert run(index.union(likes.row(5), likes.row(6))).result.row.columns == [42, 1048577]
assert run(index.difference(likes.row(5), likes.row(6))).result.row.columns == [1048577]
assert run(index.xor(likes.row(5), likes.row(6))).result.row.columns == [1048577]
assert run(getattr(index, "not")(likes.row(6)) if hasattr(index, "not") else index.not_(likes.row(6))).result.row.columns == [1048577]
assert run(likes.row(5), shards=[1]).result.row.columns == [1048577]
assert run(likes.clear(6, 42)).result.changed is True

run(likes.set_row_attrs(5, {"name": "Zoë \"quoted\"", "active": True, "level": -3, "share": 1.5}))
run(index.set_column_attrs(42, {"city": "Ulm"}))
response = run(likes.row(5), column_attrs=True)
assert response.result.row.attributes == {"name": "Zoë \"quoted\"", "active": True, "level": -3, "share": 1.5}
assert [(item.id, item.attributes) for item in response.columns] == [(42, {"city": "Ulm"})]

run(seen.set(1, 7, timestamp=datetime(2017, 1, 2, 3)))
run(seen.set(1, 8, timestamp=datetime(2018, 1, 2, 3)))
assert run(seen.row(1, from_=datetime(2017, 1, 1), to=datetime(2018, 1, 1))).result.row.columns == [7]
assert run(seen.range(1, datetime(2018, 1, 1), datetime(2019, 1, 1))).result.row.columns == [8]

run(index.batch_query(age.setvalue(1, 2 ** 62), age.setvalue(2, -10), age.setvalue(3, 7)))
assert run(age.gt(6)).result.row.columns == [1, 3]
assert run(age.lt(0)).result.row.columns == [2]
assert run(age.between(0, 10)).result.row.columns == [3]
assert run(age.not_null()).result.row.columns == [1, 2, 3]
total = run(age.sum()).result
assert (total.value, total.count) == (2 ** 62 - 3, 3)
assert run(age.max()).result.value == 2 ** 62 and run(age.min()).result.value == -10

run(index.batch_query(team.set(1, 9), team.set(2, 9), member.set(True, 9), member.set(False, 9)))
assert run(team.row(1)).result.row.columns == [] and run(team.row(2)).result.row.columns == [9]
assert run(member.row(True)).result.row.columns == [] and run(member.row(False)).result.row.columns == [9]

client.import_field(likes, iter([Column(row_id=row, column_id=column) for row in range(3) for column in range(0, 3 * 1048576, 100000)]))
client.http_request("POST", "/recalculate-caches")
top = run(likes.topn(2)).result.count_items
assert [(item.id, item.count) for item in top] == [(0, 32), (1, 32)], [(item.id, item.count) for item in top]
fast = [Column(row_id=row, column_id=column) for row in (20, 21) for column in (1, 65537, 1048575)]
client.import_field(likes, iter(fast), fast_import=True)
assert run(likes.row(21)).result.row.columns == [1, 65537, 1048575]
stamp = int((datetime(2020, 5, 6) - datetime(1970, 1, 1)).total_seconds())
client.import_field(seen, iter([Column(row_id=3, column_id=5, timestamp=stamp)]), fast_import=True)
assert run(seen.row(3, from_=datetime(2020, 5, 6), to=datetime(2020, 5, 7))).result.row.columns == [5]
client.import_field(age, iter([FieldValue(column_id=100, value=-9), FieldValue(column_id=2000000, value=2 ** 61)]))
assert run(age.equals(2 ** 61)).result.row.columns == [2000000]
client.import_field(likes, iter([Column(row_id=21, column_id=1)]), clear=True)
assert run(likes.row(21)).result.row.columns == [65537, 1048575]

assert [row for row in run(likes.rows(limit=2)).result.row_identifiers.ids] == [0, 1]
groups = run(index.group_by(likes.rows(), limit=1)).result.group_counts
assert (groups[0].groups[0].field_name, groups[0].count) == ("likes", 32)
assert run(likes.store(likes.row(5), 50)).result.changed is True
assert run(likes.clear_row(50)).result.changed is True
assert run(index.options(likes.row(5), exclude_columns=True)).result.row.columns == []

keyed = schema.index("keyed", keys=True)
tag = keyed.field("tag", keys=True)
client.sync_schema(schema)
run(tag.set("red", "ann"))
client.import_field(tag, iter([Column(row_key="red", column_key="bob"), Column(row_key="blue", column_key="ann")]))
assert list(run(tag.row("red")).result.row.keys) == ["ann", "bob"]
assert list(run(tag.rows()).result.row_identifiers.keys) == ["red", "blue"]

try:
    run(index.raw_query("Row(nothing=1)"))
    raise AssertionError("an unknown field is not refused")
except pilosa.PilosaError as error:
    assert "field not found" in str(error), error
try:
    client.create_index(index)
    raise AssertionError("an index is created twice")
except pilosa.IndexExistsError:
    pass
assert sorted(name for name in client.schema()._indexes) == ["keyed", "people"]
client.delete_field(likes)
client.delete_index(index)
assert sorted(name for name in client.schema()._indexes) == ["keyed"]
print("current client: fine")
