"""The local stack: environments, the emulator, deploying to it. Runs on a bare Python from 3.11."""
