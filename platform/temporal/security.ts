import { readFileSync } from 'node:fs';
import type { TLSConfig } from '@temporalio/client';
import { type Environment, EnvironmentError } from '../config/env';
import { readSecretFile } from '../config/secret-files';
import { compact } from '../json/compact';

/** The options of connections to a Temporal server that authenticates its clients. */
export interface TemporalSecurity {
  tls?: TLSConfig | true;
  apiKey?: string;
}

export type TemporalSecuritySettings = Pick<
  Environment,
  | 'TEMPORAL_API_KEY'
  | 'TEMPORAL_TLS'
  | 'TEMPORAL_TLS_CA_FILE'
  | 'TEMPORAL_TLS_CERT_FILE'
  | 'TEMPORAL_TLS_KEY_FILE'
  | 'TEMPORAL_TLS_SERVER_NAME'
>;

/**
 * Reads the files that the settings name. Any of them turns TLS on, as does an API key.
 *
 * @throws EnvironmentError with everything that is wrong with them
 */
export function temporalSecurity(settings: TemporalSecuritySettings): TemporalSecurity {
  const {
    TEMPORAL_API_KEY: apiKey,
    TEMPORAL_TLS_CA_FILE: caPath,
    TEMPORAL_TLS_CERT_FILE: certPath,
    TEMPORAL_TLS_KEY_FILE: keyPath,
    TEMPORAL_TLS_SERVER_NAME: serverNameOverride,
  } = settings;
  const problems: string[] = [];
  const read = (name: string, path: string | undefined): Buffer | undefined => {
    if (path === undefined) {
      return undefined;
    }
    try {
      return readFileSync(path);
    } catch (error) {
      problems.push(`${name}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
      return undefined;
    }
  };
  const serverRootCACertificate = read('TEMPORAL_TLS_CA_FILE', caPath);
  const crt = read('TEMPORAL_TLS_CERT_FILE', certPath);
  if ((certPath === undefined) !== (keyPath === undefined)) {
    problems.push('TEMPORAL_TLS_CERT_FILE: goes together with TEMPORAL_TLS_KEY_FILE');
  }
  const key = keyPath === undefined ? undefined : readSecretFile(keyPath);
  if (key && 'problem' in key) {
    problems.push(`TEMPORAL_TLS_KEY_FILE: ${key.problem}`);
  }
  if (problems.length > 0) {
    throw new EnvironmentError(problems);
  }

  const clientCertPair = crt && key && 'content' in key ? { crt, key: Buffer.from(`${key.content}\n`) } : undefined;
  const tls: TLSConfig = {
    ...compact({ serverNameOverride }),
    ...(serverRootCACertificate ? { serverRootCACertificate } : {}),
    ...(clientCertPair ? { clientCertPair } : {}),
  };
  const isOn = settings.TEMPORAL_TLS || apiKey !== undefined || Object.keys(tls).length > 0;
  return {
    ...(isOn ? { tls: Object.keys(tls).length > 0 ? tls : true } : {}),
    ...compact({ apiKey }),
  };
}
