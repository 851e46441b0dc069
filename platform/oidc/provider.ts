import type * as OpenIdClient from 'openid-client';
import type { Claims } from './claims';
import { assertEndpoints, createProviderFetch, isLoopbackUrl } from './endpoints';
import { ProviderUnavailableError, SignInDeniedError, UnprovenSignInError } from './errors';

export interface ProviderSettings {
  issuer: string;
  clientId: string;
  /** Absent for a public client. */
  clientSecret?: string | undefined;
  /** Where the provider sends the browser back to; the same as it was registered there. */
  redirectUri: string;
  /** Separated by spaces. */
  scopes: string;
  now?: () => number;
}

/** What a sign-in has to come back with; known to this service and the browser that began it. */
export interface SignInSecrets {
  state: string;
  nonce: string;
  /** The secret of PKCE, whose hash the provider was sent. */
  verifier: string;
}

/** A person who has signed in at the provider. */
export interface ProvenIdentity {
  issuer: string;
  subject: string;
  /** The session at the provider, where it names one. */
  sid?: string;
  claims: Claims;
}

/** How long the metadata of the provider is used, in milliseconds. */
const freshForMs = 600_000;
const timeoutSeconds = 5;
const clockToleranceSeconds = 30;
/** Signatures that only the provider can make: none with a secret that both have, and never none at all. */
const signatures = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Loaded when a provider is configured: others start faster without it. */
const load = (): Promise<typeof OpenIdClient> => import('openid-client');

/** What lets the provider of this machine be called without TLS; the package marks it as deprecated for what it is. */
const withoutTls = (client: typeof OpenIdClient): ((configuration: OpenIdClient.Configuration) => void) =>
  // oxlint-disable-next-line typescript/no-deprecated -- for a provider of this machine only
  client.allowInsecureRequests;

/** One provider of OpenID Connect: authorization code with PKCE, and an ID token whose signature is always verified. */
export function createProvider(settings: ProviderSettings) {
  const { clientId, clientSecret, redirectUri, scopes, now = Date.now } = settings;
  const issuer = new URL(settings.issuer);
  const fetchThere = createProviderFetch(issuer);
  let latest: { at: number; configuration: Promise<OpenIdClient.Configuration> } | undefined;

  async function discover(): Promise<OpenIdClient.Configuration> {
    const client = await load();
    const insecure = isLoopbackUrl(issuer) ? [withoutTls(client)] : [];
    const discovered = await client.discovery(issuer, clientId, undefined, undefined, {
      [client.customFetch]: fetchThere,
      timeout: timeoutSeconds,
      execute: insecure,
    });
    // But for the methods that the client has added.
    const metadata = JSON.parse(JSON.stringify(discovered.serverMetadata())) as OpenIdClient.ServerMetadata;
    if (new URL(metadata.issuer).href !== issuer.href) {
      throw new ProviderUnavailableError('The provider names another issuer than the configured one.');
    }
    assertEndpoints(metadata, issuer);
    const algorithms = metadata.id_token_signing_alg_values_supported ?? ['RS256'];
    const configuration = new client.Configuration(
      { ...metadata, id_token_signing_alg_values_supported: algorithms.filter((one) => signatures.includes(one)) },
      clientId,
      {
        ...(clientSecret !== undefined && { client_secret: clientSecret }),
        [client.clockTolerance]: clockToleranceSeconds,
      },
      authentication(client, metadata),
    );
    configuration[client.customFetch] = fetchThere;
    configuration.timeout = timeoutSeconds;
    client.enableNonRepudiationChecks(configuration);
    for (const execute of insecure) {
      execute(configuration);
    }
    return configuration;
  }

  function authentication(client: typeof OpenIdClient, metadata: OpenIdClient.ServerMetadata): OpenIdClient.ClientAuth {
    if (clientSecret === undefined) {
      return client.None();
    }
    return metadata.token_endpoint_auth_methods_supported?.includes('client_secret_post')
      ? client.ClientSecretPost(clientSecret)
      : client.ClientSecretBasic(clientSecret);
  }

  /** The provider's metadata and keys, read again after a while. @throws ProviderUnavailableError */
  async function configured(): Promise<OpenIdClient.Configuration> {
    if (!latest || now() - latest.at > freshForMs) {
      const present = { at: now(), configuration: discover() };
      latest = present;
      present.configuration.catch(() => {
        // The next sign-in tries again.
        latest = latest === present ? undefined : latest;
      });
    }
    try {
      return await latest.configuration;
    } catch (cause) {
      throw cause instanceof ProviderUnavailableError
        ? cause
        : new ProviderUnavailableError('The metadata of the provider cannot be read.', { cause });
    }
  }

  return {
    /** Begins a sign-in: where the browser goes, and the secrets that it has to come back with. */
    async begin(): Promise<{ url: URL; secrets: SignInSecrets }> {
      const configuration = await configured();
      const client = await load();
      const secrets = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: scopes,
        response_type: 'code',
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: 'S256',
      });
      return { url, secrets };
    },

    /**
     * Redeems the code that the browser has come back with.
     *
     * @param query of the callback, as it was received
     * @param needs whether claims lack something that the user information may have
     * @throws ProviderUnavailableError, SignInDeniedError, UnprovenSignInError
     */
    async complete(
      query: string,
      { state, nonce, verifier }: SignInSecrets,
      needs: (claims: Claims) => boolean,
    ): Promise<ProvenIdentity> {
      const configuration = await configured();
      const client = await load();
      const callback = new URL(redirectUri);
      callback.search = query;
      try {
        const tokens = await client.authorizationCodeGrant(configuration, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (!claims) {
          throw new UnprovenSignInError('The provider has sent no ID token.');
        }
        const isComplete = !needs(claims) || configuration.serverMetadata().userinfo_endpoint === undefined;
        const further = isComplete ? {} : await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
        return {
          issuer: claims.iss,
          subject: claims.sub,
          ...(typeof claims.sid === 'string' && { sid: claims.sid }),
          // The signed claims decide where both have one.
          claims: { ...further, ...claims },
        };
      } catch (error) {
        throw translated(client, error);
      }
    },

    /** Where a browser ends its session at the provider; `undefined` where the provider offers no such page. */
    async endSessionUrl(returnTo: string): Promise<URL | undefined> {
      const configuration = await configured();
      if (configuration.serverMetadata().end_session_endpoint === undefined) {
        return undefined;
      }
      const client = await load();
      return client.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnTo });
    },

    /** Where the provider's keys are, for what it sends by itself. @throws ProviderUnavailableError */
    async keys(): Promise<{ issuer: string; jwksUri: URL; algorithms: string[]; fetch: OpenIdClient.CustomFetch }> {
      const { issuer: name, jwks_uri: jwksUri } = (await configured()).serverMetadata();
      if (jwksUri === undefined) {
        throw new ProviderUnavailableError('The provider names no keys.');
      }
      return { issuer: name, jwksUri: new URL(jwksUri), algorithms: signatures, fetch: fetchThere };
    },
  };
}

export type Provider = ReturnType<typeof createProvider>;

/** An error of a sign-in by who has to act: the person, the operator, or none, since it was forged. */
function translated(client: typeof OpenIdClient, error: unknown): Error {
  if (error instanceof client.AuthorizationResponseError) {
    return new SignInDeniedError(error.error);
  }
  if (error instanceof UnprovenSignInError) {
    return error;
  }
  if (error instanceof client.ResponseBodyError) {
    // The code is wrong, used or of another client; or our own credentials are.
    return error.status >= 500 || error.error === 'invalid_client'
      ? new ProviderUnavailableError(`The provider has refused the code: ${error.error}.`, { cause: error })
      : new UnprovenSignInError(`The provider has refused the code: ${error.error}.`, { cause: error });
  }
  if (error instanceof client.ClientError && isAboutContent(error.code)) {
    return new UnprovenSignInError('The response of the provider does not prove who has signed in.', { cause: error });
  }
  return new ProviderUnavailableError('The provider does not respond as it must.', { cause: error });
}

/** Codes of what keeps a response from being received, or being one of this protocol. */
const transportCodes = ['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON'];

/** Whether a response was received, and is wrong. */
const isAboutContent = (code: string | undefined): boolean =>
  code?.startsWith('OAUTH_') === true && !transportCodes.includes(code);
