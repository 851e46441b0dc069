import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Whether two texts are the same, in a time that does not depend on where they differ. */
const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));

/** Whether the body was signed with the secret, as GitHub does in `X-Hub-Signature-256`: `sha256=` and the HMAC in hex. */
export const hasGithubSignature = (secret: string, body: Buffer, header: string | undefined): boolean =>
  header !== undefined && isSame(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`, header);

/** Whether the secret itself was sent, as GitLab does in `X-Gitlab-Token`. */
export const hasGitlabToken = (secret: string, header: string | undefined): boolean =>
  header !== undefined && isSame(secret, header);
