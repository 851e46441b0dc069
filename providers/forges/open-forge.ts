import type { ForgeKind } from '../../contracts/integrations/forge';
import type { Forge, ForgeSettings } from './forge';
import { createGithubForge } from './github/github-forge';
import { createGitlabForge } from './gitlab/gitlab-forge';

const families: Record<ForgeKind, (settings: ForgeSettings) => Forge> = {
  github: createGithubForge,
  gitlab: createGitlabForge,
};

/** The client of one repository of a forge. Nothing is sent until something is asked. */
export const openForge = (settings: ForgeSettings): Forge => families[settings.kind](settings);
