import { hideOwnSecrets } from '../log/own-secrets';
import { createRedactor } from '../log/redact';
import { readEnvironment } from './env';
import { secretValues } from './secret-values';

const env = readEnvironment({
  BOARD_ADMIN_KEY: 'the-key-of-the-administrator',
  BOARD_API_KEYS: 'ci:a-long-key-of-the-pipeline:agent,bot:another-long-key-of-a-bot:agent',
  BOARD_WEBHOOK_SECRET: 'a-secret-of-webhooks',
  BITMAP_TOKEN: 'a-token-of-the-bitmap-index',
  MONGODB_URL: 'mongodb://board:p%40ss%2Fword-1@a:27017,b:27017/board',
  PLANTS_TOKENS: 'anna:a-long-token-of-anna-for-plants',
  PLANTS_WEBHOOK_SECRET: 'a-secret-of-plants-webhooks',
  TEMPORAL_API_KEY: 'a-key-of-the-temporal-cloud',
});

describe('secret values', () => {
  test('secrets of the process are hidden by every redactor, also by one that was made before', () => {
    const before = createRedactor(['another value']);
    const secrets = secretValues(env);
    expect(secrets).toHaveLength(10);
    const text = `${secrets.join(' | ')} and another value, a word`;
    expect(before(text)).toContain('a-long-key-of-the-pipeline');
    hideOwnSecrets(secrets);
    for (const redact of [before, createRedactor()]) {
      const clean = redact(text);
      for (const secret of secrets) {
        expect(clean).not.toContain(secret);
      }
      expect(clean).toContain('a word');
    }
    expect(before(text)).not.toContain('another value');
  });

  test('keys of our own shape are hidden where they are not configured', () => {
    const key = `rbk_${'aB3-'.repeat(10)}`;
    expect(createRedactor()(`key=${key};`)).toBe('key=[REDACTED];');
    expect(createRedactor()('rbk_short and verb_like_names stay')).toBe('rbk_short and verb_like_names stay');
  });
});
