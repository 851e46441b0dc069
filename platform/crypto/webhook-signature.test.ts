import { hasGithubSignature, hasGitlabToken } from './webhook-signature';

// The example of GitHub's documentation "Validating webhook deliveries".
const secret = "It's a Secret to Everybody";
const body = Buffer.from('Hello, World!');
const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';

describe('signatures of webhooks', () => {
  it('are those of GitHub', () => {
    expect(hasGithubSignature(secret, body, signature)).toBe(true);
  });

  it.each([undefined, '', 'sha256=', signature.slice(7), signature.toUpperCase(), `${signature}0`, `${signature} `])(
    'are no others: %j',
    (header) => expect(hasGithubSignature(secret, body, header)).toBe(false),
  );

  it('are of this body and this secret', () => {
    expect(hasGithubSignature(secret, Buffer.from('Hello, World'), signature)).toBe(false);
    expect(hasGithubSignature('another', body, signature)).toBe(false);
  });

  it('are the token itself at GitLab', () => {
    expect(hasGitlabToken(secret, secret)).toBe(true);
    for (const header of [undefined, '', `${secret}!`, secret.slice(1)]) {
      expect(hasGitlabToken(secret, header)).toBe(false);
    }
  });
});
