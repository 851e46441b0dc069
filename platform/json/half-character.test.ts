import { findHalfCharacter } from './half-character';

const find = (json: string) => findHalfCharacter(json, JSON.parse(json));

describe('half of a character in JSON', () => {
  it.each([
    ['of a field', '{"title":"a\\ud83d"}', 'title'],
    ['of an item', '{"tags":["a","\\uDE00"]}', 'tags.1'],
    ['in the wrong order', '{"a":{"b":"\\ude00\\ud83d"}}', 'a.b'],
    ['in a name', '{"a":{"\\ud83d":1}}', 'a'],
    ['in a name of the body', '{"\\ud83d":1}', ''],
  ])('is found with its path: %s', (_case, json, path) => {
    expect(find(json)).toBe(path);
  });

  it.each([
    ['whole characters', '{"a":"\\ud83d\\ude00","😀":"é"}'],
    ['an escaped backslash', '{"a":"\\\\ud83d"}'],
    ['no text', '[1,null,true]'],
  ])('is not found in %s', (_case, json) => {
    expect(find(json)).toBeUndefined();
  });
});
