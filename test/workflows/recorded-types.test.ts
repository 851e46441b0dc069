import * as workflows from '../../workflows';
import { recordedTypes } from '../../workflows/recorded-types';

describe('recorded workflow types', () => {
  it.each(Object.entries(recordedTypes))('registers %s under its recorded type %s too', (name, recorded) => {
    const registered = workflows as Record<string, unknown>;
    expect(registered[name]).toEqual(expect.any(Function));
    expect(registered[recorded]).toBe(registered[name]);
  });
});
