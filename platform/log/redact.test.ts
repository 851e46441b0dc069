import fc from 'fast-check';
import { createLineRedactor, createRedactor, isSecretName } from './redact';

const redact = createRedactor([
  'hunter2-is-long',
  'line one of it\nline two of it',
  'tiny',
  'abc-secret',
  'abc-secret-longer',
]);

describe('redacting', () => {
  it.each<readonly [string, string, string]>([
    ['a known value', 'login with hunter2-is-long.', 'login with [REDACTED].'],
    ['each line of a known value', 'x line two of it y', 'x [REDACTED] y'],
    ['the longer of two values', 'abc-secret-longer', '[REDACTED]'],
    ['a GitHub token', `ghp_${'a1'.repeat(18)}`, '[REDACTED]'],
    ['a model key', `key is sk-${'x'.repeat(40)}`, 'key is [REDACTED]'],
    ['a cloud key', 'AKIAIOSFODNN7EXAMPLE', '[REDACTED]'],
    ['a cloud key that expires', 'ASIAIOSFODNN7EXAMPLE', '[REDACTED]'],
    ['a GitHub token with narrow rights', `github_pat_${'aB3_'.repeat(6)}`, '[REDACTED]'],
    ['a GitLab token', `glpat-${'aB3-'.repeat(5)}`, '[REDACTED]'],
    ...['a', 'b', 'e', 'o', 'p', 'r', 's'].map(
      (kind) => [`a chat token of kind ${kind}`, `xox${kind}-123456-aBcDeF`, '[REDACTED]'] as [string, string, string],
    ),
    ...['o', 'p', 'r', 's', 'u'].map(
      (kind) =>
        [`a GitHub token of kind ${kind}`, `gh${kind}_${'a1'.repeat(18)}`, '[REDACTED]'] as [string, string, string],
    ),
    ['a key of a search service', `AIza${'aB3_-'.repeat(7)}`, '[REDACTED]'],
    ['a package registry token', `npm_${'aB3'.repeat(12)}`, '[REDACTED]'],
    ['a callback secret of ours', `rbcb_${'aB3_'.repeat(8)}`, '[REDACTED]'],
    ['a signed token', `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`, '[REDACTED]'],
    ['a key of another kind of the cloud', 'AROAIOSFODNN7EXAMPLE', '[REDACTED]'],
    ['a chat token of an app', 'xapp-1-A0123-4567-aBcDeF', '[REDACTED]'],
    ['a key of a mail service', `SG.${'aB3_'.repeat(5)}.${'aB3-'.repeat(10)}`, '[REDACTED]'],
    ['a token of a shop', `shpat_${'a1'.repeat(16)}`, '[REDACTED]'],
    ['a token of an issue tracker', `lin_api_${'aB3'.repeat(13)}`, '[REDACTED]'],
    ['a token of a password manager', `ops_ey${'aB3='.repeat(40)}`, '[REDACTED]'],
    [
      'an address that posts to a chat',
      'https://hooks.slack.com/services/T01/B02/aBcDeF',
      'https://hooks.slack.com/services/[REDACTED]',
    ],
    [
      'a token as the user of a URL',
      'https://abc123:x-oauth-basic@github.com/a',
      'https://[REDACTED]:[REDACTED]@github.com/a',
    ],
    [
      'a secret key of the cloud',
      'AWS_SECRET_ACCESS_KEY="wJalrXUtnFEMI/K7MDENG"',
      'AWS_SECRET_ACCESS_KEY="[REDACTED]"',
    ],
    ['one with its name in one word', 'AwsSecretAccessKey => "aB3aB3aB3"', 'AwsSecretAccessKey => "[REDACTED]"'],
    ['a password behind a prefix', 'DB_PASSWORD=letmein1', 'DB_PASSWORD=[REDACTED]'],
    [
      'a token of a registry',
      '//registry.npmjs.org/:_authToken=aB3aB3aB3',
      '//registry.npmjs.org/:_authToken=[REDACTED]',
    ],
    ['a labelled value behind an arrow', "'secret' => 'aB3aB3aB3'", "'secret' => '[REDACTED]'"],
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
    const starts = ['eyJ', 'a:', 'http://', 'sk-', 'password=', 'Bearer ', '-----BEGIN ', 'ghp_'];
    for (const unit of [
      ...starts,
      'ops_ey',
      'SG.',
      'SG.a.',
      'xapp-',
      'https://hooks.slack.com/services/',
      'secret ',
      'a_',
    ]) {
      expect(redact(unit.repeat(40_000))).toEqual(expect.any(String));
    }
  });
  it('knows the names of secrets', () => {
    expect(['password', 'apiKey', 'API_KEY', 'refresh-token', 'Authorization'].every(isSecretName)).toBe(true);
    expect(['inputTokens', 'tokens', 'author', 'secretary'].some(isSecretName)).toBe(false);
  });
});

/** Text in which secrets of every shape are beside anything that could be taken for a part of them. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.constantFrom(
        'password=',
        'API_KEY: "',
        'Bearer ',
        'https://me:',
        '@host',
        'ghp_',
        'sk-',
        'eyJ',
        '.',
        ' ',
        '[REDACTED]',
        'hunter2-is-long',
        '-----BEGIN PRIVATE KEY-----',
        '-----END PRIVATE KEY-----',
      ),
      fc.integer({ min: 8, max: 700 }).map((length) => 'a1'.repeat(length)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

it('finds nothing more in what it has redacted', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(redact(redact(text))).toBe(redact(text));
    }),
    { numRuns: 500 },
  );
});

it('hides long secrets whole', () => {
  expect(redact(`password=${'x'.repeat(5_000)}`)).toBe('password=[REDACTED]');
  expect(redact(`-----BEGIN PRIVATE KEY-----\n${'QUJD\n'.repeat(4_000)}-----END PRIVATE KEY-----`)).toBe('[REDACTED]');
});

describe('redacting lines', () => {
  const lines = (text: string) => text.split('\n').map(createLineRedactor(redact)).join('\n');

  it('hides a private key over several lines, and nothing after it', () => {
    const key =
      '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nTUlJRQ+/\nQUJD==\n-----END RSA PRIVATE KEY-----';
    const clean = lines(`before\n${key} after\nTUlJRQ`);
    expect(clean).not.toMatch(/TUlJRQ\+|QUJD|ENCRYPTED/);
    expect(clean.startsWith('before\n')).toBe(true);
    expect(clean.endsWith(' after\nTUlJRQ')).toBe(true);
  });

  it('continues after a key that never ends', () => {
    expect(lines('-----BEGIN PRIVATE KEY-----\nQUJD\nwhat is this?\nQUJD')).toBe(
      '[REDACTED]\n[REDACTED]\nwhat is this?\nQUJD',
    );
  });
});
