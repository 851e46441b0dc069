import { dryRunCatalog, parseCatalog } from './catalog';

const provider = { name: 'local', kind: 'openai-compatible', base_url: 'http://127.0.0.1:8080/v1', api_key_env: 'KEY' };
const model = (id: string, more: Record<string, unknown> = {}) => ({
  id,
  provider: 'local',
  family: 'test',
  display_name: id,
  limits: { context_window: 1_000 },
  ...more,
});
const parse = (file: unknown) => parseCatalog(JSON.stringify(file));
const problems = (file: unknown): string => {
  try {
    parse(file);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

describe('model catalog', () => {
  it('marks one model as the default: the one that declares it, or the first', () => {
    const defaults = (...models: object[]) =>
      parse({ providers: [provider], models }).map(({ model: { default: chosen } }) => chosen);
    expect(defaults(model('a'), model('b'))).toEqual([true, false]);
    expect(defaults(model('a'), model('b', { default: true }))).toEqual([false, true]);
    expect(dryRunCatalog.map(({ model: { id } }) => id)).toEqual(['dry-run']);
  });

  it('knows what a model is called where it is reached', () => {
    const [first, second] = parse({
      providers: [provider],
      models: [model('a', { upstream_id: 'A-2026' }), model('b')],
    });
    expect([first?.upstreamId, second?.upstreamId]).toEqual(['A-2026', 'b']);
    expect(first?.model).not.toHaveProperty('upstream_id');
  });

  it.each([
    [
      'a name twice',
      { providers: [provider], models: [model('a'), model('b', { aliases: ['a'] })] },
      'models: a is listed twice',
    ],
    ['a provider twice', { providers: [provider, provider], models: [model('a')] }, 'providers: local is listed twice'],
    [
      'an unknown provider',
      { providers: [provider], models: [model('a', { provider: 'x' })] },
      'a is of provider x, which',
    ],
    [
      'two defaults',
      { providers: [provider], models: [model('a', { default: true }), model('b', { default: true })] },
      'more than one is the default',
    ],
    ['no model', { providers: [provider], models: [] }, 'models: '],
    ['an unknown field', { providers: [{ ...provider, api_key: 'x' }], models: [model('a')] }, 'providers.0: '],
    ['another kind', { providers: [{ ...provider, kind: 'x' }], models: [model('a')] }, 'providers.0.kind: '],
    [
      'a file URL',
      { providers: [{ ...provider, base_url: 'file:///x' }], models: [model('a')] },
      'providers.0.base_url: ',
    ],
    [
      'credentials in a URL',
      { providers: [{ ...provider, base_url: 'http://u:p@h/v1' }], models: [model('a')] },
      'providers.0.base_url: must not contain credentials',
    ],
    [
      'a key instead of its name',
      { providers: [{ ...provider, api_key_env: 'sk-123' }], models: [model('a')] },
      'providers.0.api_key_env: must be the name',
    ],
    [
      'a window of no tokens',
      { providers: [provider], models: [model('a', { limits: { context_window: 0 } })] },
      'models.0.limits',
    ],
  ])('refuses %s', (_case, file, message) => {
    expect(problems(file)).toContain(message);
  });

  it('names every problem at once, and quotes nothing of what is no JSON', () => {
    expect(
      problems({ providers: [provider], models: [model('a'), model('a', { provider: 'x' })] }).split('\n'),
    ).toHaveLength(3);
    expect(() => parseCatalog('{"api_key": "sk-secret')).toThrow(/^(?![^]*sk-secret)[^]*it is not JSON/);
  });
});
