import { z } from 'zod';
import { directories, integer, milliseconds, optionalText, text } from './kinds';

/** Shorter keys could be guessed by a reader of the stores. */
const shortestKey = 32;

/** Where records and files are. */
export const storeSettings = {
  BOARD_DATA_DIR: text('directory')
    .default('.board')
    .meta({ form: 'directory' })
    .describe("Board files, SQLite, worktrees, the embedded Temporal's database"),
  BOARD_DOCS_DIR: optionalText('directory').describe(
    'Documents of the workspace `local`, which `/api/docs` serves and searches find; without it `docs` in the data directory. Other workspaces have `docs` in their own',
  ),
  BOARD_SKILL_ROOTS: directories.describe(
    'Directories with directories of skills, besides `skills` in the data directory; they are read by the API and by workers',
  ),
  BOARD_STORE_WAIT_MS: milliseconds(10_000).describe(
    'How long a write waits while another process has SQLite locked, before it is refused with 503',
  ),
  BOARD_STORE_MAX_MB: integer(0, { min: 0, max: 1_048_576, unit: 'MB' }).describe(
    "How large SQLite's file may grow, before writes are refused with 507; 0: as large as its disk allows",
  ),
  BOARD_DISK_MIN_FREE_MB: integer(100, { min: 0, max: 1_048_576, unit: 'MB' }).describe(
    'Free space of the data directory below which `/health/ready` fails and previews warn',
  ),
  BOARD_CREDENTIAL_KEY: z
    .string()
    .min(shortestKey)
    .optional()
    .describe(
      'Key that credentials of communication adapters are sealed with, the same for every api and worker; without it one is made in the stores, beside what it seals',
    ),
  MONGODB_URL: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\//, 'must start with mongodb:// or mongodb+srv://')
    .optional()
    .meta({ form: 'URL' })
    .describe('Stores in MongoDB; without it they are in SQLite under the data directory'),
  MONGODB_PASSWORD: optionalText('text').describe(
    'Password of the user that the URL names, where it is not part of it',
  ),
};
