import { attachmentRoutes } from './attachments/routes';
import { authRoutes } from './auth/routes';
import { commentRoutes } from './comments/routes';
import { configRoutes } from './config/routes';
import type { Area } from './context';
import { governanceRoutes } from './governance/routes';
import { healthRoutes } from './health/routes';
import { managedListRoutes } from './managed-lists/routes';
import { openApiRoutes } from './openapi/routes';
import { routingRoutes } from './routing/routes';
import { sandboxRoutes } from './sandbox/routes';
import { settingsRoutes } from './settings/routes';
import { taskRoutes } from './tasks/routes';
import { workspaceCapabilityRoutes } from './workspace-capabilities/routes';
import { templateRoutes } from './templates/routes';
import { telemetryRoutes } from './telemetry/routes';

/** The areas that need nothing but the stores and the board: the map of this part of the API. */
export const coreAreas: Area[] = [
  healthRoutes,
  authRoutes,
  taskRoutes,
  commentRoutes,
  attachmentRoutes,
  managedListRoutes,
  templateRoutes,
  configRoutes,
  settingsRoutes,
  governanceRoutes,
  routingRoutes,
  workspaceCapabilityRoutes,
  sandboxRoutes,
  telemetryRoutes,
  openApiRoutes,
];
