import '../../platform/processes/parts/preload';
import { join } from 'node:path';
import { runTemporalService } from '../temporal-service';
import { startPlants } from './start';

void runTemporalService({
  name: 'plants',
  codePath: join(__dirname, '..', '..', 'plants-workflow-bundle.js'),
  start: startPlants,
});
