/** The provider cannot be reached, or does not respond as a provider does. */
export class ProviderUnavailableError extends Error {
  override readonly name = 'ProviderUnavailableError';
}

/** The provider has refused the sign-in, such as for a person who does not consent. */
export class SignInDeniedError extends Error {
  override readonly name = 'SignInDeniedError';

  /** @param reason the error code of the protocol: `access_denied` */
  constructor(readonly reason: string) {
    super(`The provider has refused the sign-in: ${reason}.`);
  }
}

/** What came back does not prove who the person is. */
export class UnprovenSignInError extends Error {
  override readonly name = 'UnprovenSignInError';
}
