import type { Remedy } from './remedy';

/** Refusals of signing in, and of what keeps sessions safe. */
export const signInRemedies: Record<string, Remedy> = {
  NOT_SETUP: [
    { call: 'POST /api/auth/setup', remedy: 'Set the first password with the code in the log of the service.' },
  ],
  ALREADY_SETUP: [{ call: 'POST /api/auth/login', remedy: 'Sign in with the password.' }],
  ROTATION_NOT_AVAILABLE: [
    { call: 'GET /api/auth/rotation-status', remedy: 'Read until when each former secret is valid, and rotate then.' },
  ],
};
