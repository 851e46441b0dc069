/** The sandbox of a run cannot be set up as its preset requires; the message is a sentence for a person. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}
