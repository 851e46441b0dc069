"""The published client of the earlier revision against a running server: argv[1] is its host:port."""
import sys
from datetime import datetime

import pilosa
from pilosa import Client, TimeQuantum
from pilosa.imports import Bit

client = Client(sys.argv[1])
schema = client.schema()
index = schema.index("stars")
gazer = index.frame("stargazer", time_quantum=TimeQuantum.YEAR_MONTH_DAY_HOUR)
sized = index.frame("sized", fields=[pilosa.IntField.int("stars", -10, 2 ** 40)])
client.sync_schema(schema)
client.sync_schema(schema)


def run(query, **options):
    return client.query(query, **options)


batch = index.batch_query(gazer.setbit(5, 42), gazer.setbit(5, 1048577), gazer.setbit(6, 42))
assert [result.changed for result in run(batch).results] == [True, True, True]
assert run(gazer.bitmap(5)).result.bitmap.bits == [42, 1048577]
assert run(index.count(index.intersect(gazer.bitmap(5), gazer.bitmap(6)))).result.count == 1
assert run(index.union(gazer.bitmap(5), gazer.bitmap(6))).result.bitmap.bits == [42, 1048577]
assert run(gazer.clearbit(6, 42)).result.changed is True
run(gazer.setbit(7, 1, timestamp=datetime(2017, 1, 2, 3)))
run(gazer.setbit(7, 2, timestamp=datetime(2018, 1, 2, 3)))
assert run(gazer.range(7, datetime(2017, 1, 1), datetime(2018, 1, 1))).result.bitmap.bits == [1]
run(gazer.set_row_attrs(5, {"name": "five", "active": True, "level": 3}))
run(index.set_column_attrs(42, {"city": "Ulm"}))
response = run(gazer.bitmap(5), columns=True)
assert response.result.bitmap.attributes == {"name": "five", "active": True, "level": 3}
assert [(item.id, item.attributes) for item in response.columns] == [(42, {"city": "Ulm"})]
assert run(gazer.bitmap(5), exclude_bits=True).result.bitmap.bits == []

stars = sized.field("stars")
run(index.batch_query(stars.set_value(1, 2 ** 40), stars.set_value(2, -10), stars.set_value(3, 7)))
assert run(stars.gt(6)).result.bitmap.bits == [1, 3]
assert run(stars.between(-10, 7)).result.bitmap.bits == [2, 3]
assert run(stars.not_null()).result.bitmap.bits == [1, 2, 3]
total = run(stars.sum()).result
assert (total.value, total.count) == (2 ** 40 - 3, 3)

client.import_frame(gazer, iter([Bit(row, column, 0) for row in range(3) for column in range(0, 3 * 1048576, 100000)]))
client.http_request("POST", "/recalculate-caches")
assert [(item.id, item.count) for item in run(gazer.topn(2)).result.count_items] == [(0, 32), (1, 32)]
assert [(item.id, item.count) for item in run(gazer.topn(1, gazer.bitmap(5))).result.count_items] == [(5, 2)]

try:
    run(index.raw_query("Bitmap(row=1)"))
    raise AssertionError("a missing frame is not refused")
except pilosa.PilosaError as error:
    assert "frame required" in str(error), error
try:
    client.create_frame(gazer)
    raise AssertionError("a frame is created twice")
except pilosa.exceptions.FrameExistsError:
    pass
again = client.schema()._indexes["stars"]._frames
assert sorted(again) == ["sized", "stargazer"] and str(again["stargazer"].time_quantum) == "YMDH"
client.delete_frame(gazer)
client.delete_index(index)
assert client.schema()._indexes == {}
print("earlier client: fine")
