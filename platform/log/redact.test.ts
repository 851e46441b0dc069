import { createRedactor, isSecretName } from './redact';

const redact = createRedactor([
  'hunter2-is-long',
  'line one of it\nline two of it',
  'tiny',
  'abc-secret',
  'abc-secret-longer',
]);

describe('redacting', () => {
  it.each([
    ['a known value', 'login with hunter2-is-long.', 'login with [REDACTED].'],
    ['each line of a known value', 'x line two of it y', 'x [REDACTED] y'],
    ['the longer of two values', 'abc-secret-longer', '[REDACTED]'],
    ['a GitHub token', `ghp_${'a1'.repeat(18)}`, '[REDACTED]'],
    ['a model key', `key is sk-${'x'.repeat(40)}`, 'key is [REDACTED]'],
    ['a cloud key', 'AKIAIOSFODNN7EXAMPLE', '[REDACTED]'],
    ['a signed token', `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`, '[REDACTED]'],
    ['a bearer header', 'Authorization: Bearer abcdefghijklmnop1234', 'Authorization: Bearer [REDACTED]'],
    ['a password in a URL', 'git clone https://me:letmein@host/x', 'git clone https://me:[REDACTED]@host/x'],
    ['a labelled value', '{"password": "correct horse"}', '{"password": "correct horse"}'],
    ['a labelled value without spaces', 'API_KEY=0123456789abc', 'API_KEY=[REDACTED]'],
    ['a private key', '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----', '[REDACTED]'],
  ])('%s', (_, text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  it.each([
    'tiny',
    'the token count is 12',
    'password: ok',
    'https://host:8080/a@b',
    'commit 0123abcd',
    'task-skeleton-of-a-thing',
  ])('leaves ordinary text alone: %s', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('comes to an end on hostile text', () => {
    // Backtracking would take hours, and jest's time limit would end it.
    for (const unit of ['eyJ', 'a:', 'http://', 'sk-', 'password=', 'Bearer ', '-----BEGIN ', 'ghp_']) {
      expect(redact(unit.repeat(40_000))).toEqual(expect.any(String));
    }
  });
  it('knows the names of secrets', () => {
    expect(['password', 'apiKey', 'API_KEY', 'refresh-token', 'Authorization'].every(isSecretName)).toBe(true);
    expect(['inputTokens', 'tokens', 'author', 'secretary'].some(isSecretName)).toBe(false);
  });
});
