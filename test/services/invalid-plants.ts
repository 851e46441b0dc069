/** Bodies of plants that are refused, with what is wrong in them. */
export const invalidPlants: readonly [what: string, body: string][] = [
  ['not JSON', '{'],
  ['a number', '5'],
  ['no name', '{"id":1}'],
  ['no id', '{"name":"Fern"}'],
  ['an id that is a text', '{"id":"1","name":"Fern"}'],
  ['an id with a fraction', '{"id":1.5,"name":"Fern"}'],
  ['an id that is rounded for its fraction', '{"id":9007199254740993.0,"name":"Fern"}'],
  ['an id that is rounded for its exponent', '{"id":9.007199254740993e15,"name":"Fern"}'],
  ['an id beyond 64 bits', '{"id":9223372036854775808,"name":"Fern"}'],
  ['a name with half of a character', '{"id":1,"name":"Fern\\ud800"}'],
  ['a tag with half of a character', '{"id":1,"name":"Fern","tag":"\\udc00"}'],
  ['a name that is no text', '{"id":1,"name":2}'],
  ['a tag that is no text', '{"id":1,"name":"Fern","tag":null}'],
  ['a name of too many characters', `{"id":1,"name":"${'x'.repeat(1_001)}"}`],
  ['a tag of too many characters', `{"id":1,"name":"Fern","tag":"${'x'.repeat(201)}"}`],
  ['a body that is too large', `{"id":1,"name":"${'x'.repeat(1_100_000)}"}`],
];
