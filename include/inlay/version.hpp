// The only place the version is written; CMake reads it.
#pragma once

#define INLAY_VERSION "0.1.0"

// Marks what a shared build exports.
#if defined(_WIN32) && defined(INLAY_SHARED_LIBRARY)
#ifdef INLAY_BUILDING
#define INLAY_API __declspec(dllexport)
#else
#define INLAY_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define INLAY_API __attribute__((visibility("default")))
#else
#define INLAY_API
#endif
