import fc from 'fast-check';
import { withoutSecrets } from './secrets';

describe('checkpoint redaction', () => {
  it.each([
    ...['key', 'keys', 'apiKey', 'API_KEY', 'api-key', 'apikey', 'signing key', 'privateKey'],
    ...['token', 'accessToken', 'refresh_token', 'githubtoken', 'idTokenHint'],
    ...['secret', 'clientSecret', 'password', 'DB_PASSWORD', 'userpassword', 'passphrase', 'credentials', 'jwt'],
    ...['auth', 'authHeader', 'authorization', 'session', 'sessionId', 'session_id', 'cookie', 'cookies', 'webhookUrl'],
  ])('leaves out %s', (name) => {
    expect(withoutSecrets({ [name]: 'value', deep: [{ [name]: { a: 1 }, b: 2 }] })).toEqual({ deep: [{ b: 2 }] });
  });

  it.each(['keyboard', 'monkey', 'author', 'authored', 'step', 'sessionless', 'hotkeys'])('keeps %s', (name) => {
    expect(withoutSecrets({ [name]: 'value' })).toEqual({ [name]: 'value' });
  });

  it('keeps counts and answers to yes or no', () => {
    const state = { inputTokens: 1200, sessions: 3, hasPassword: true, token: null };
    expect(withoutSecrets(state)).toEqual(state);
    expect(withoutSecrets({ password: 123456, tokens: ['a'] })).toEqual({});
  });

  it('redacts texts that look like secrets, also in names', () => {
    const github = `ghp_${'a'.repeat(36)}`;
    expect(withoutSecrets({ log: [`used ${github} twice`], [github]: 1 })).toEqual({
      log: ['used [REDACTED] twice'],
      '[REDACTED]': 1,
    });
  });

  it('refuses what is nested too deeply, however deep it is', () => {
    const nested = (levels: number): Record<string, unknown> =>
      JSON.parse('{"a":'.repeat(levels) + '1' + '}'.repeat(levels));
    expect(withoutSecrets(nested(32))).toEqual(nested(32));
    for (const levels of [33, 5_000]) {
      expect(() => withoutSecrets(nested(levels))).toThrow(expect.objectContaining({ status: 400 }));
    }
  });

  it('keeps everything else as it is, and changes nothing when it is done again', () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), (state) => {
        const once = withoutSecrets(JSON.parse(JSON.stringify(state)) as Record<string, unknown>);
        expect(withoutSecrets(once)).toEqual(once);
        expect(Object.keys(state)).toEqual(expect.arrayContaining(Object.keys(once)));
      }),
    );
  });
});
