// What crosses the wire as nlohmann's library has it: for bots of games without types, for tests, and for the kit
// itself.

#pragma once

#include <nlohmann/json.hpp>
#include <referee/wire.hpp>

// nlohmann's library learnt about std::optional only after 3.11: null = empty.
template <class T>
struct nlohmann::adl_serializer<std::optional<T>> {
    static void to_json(json& into, const std::optional<T>& value) {
        if (value) {
            into = *value;
        } else {
            into = nullptr;
        }
    }
    static void from_json(const json& from, std::optional<T>& value) {
        value.reset();
        if (!from.is_null()) value = from.get<T>();
    }
};

namespace referee {

// Reads a member that is always there; throws a Json::exception that names it when it is not.
template <class T>
void read(const Json& object, const char* name, T& into) {
    object.at(name).get_to(into);
}

// Reads a member that may be absent or null. A value of another type counts as absent too: some events show what a
// rival sent, and a rival may send anything.
template <class T>
void read(const Json& object, const char* name, std::optional<T>& into) {
    into.reset();
    const auto member = object.find(name);
    if (member == object.end() || member->is_null()) return;
    try {
        into = member->template get<T>();
    } catch (const std::exception&) {
    }
}

// Reads a member that may be absent, or anything.
inline void read(const Json& object, const char* name, Anything& into) {
    const auto member = object.find(name);
    into = member == object.end() ? Anything() : Anything(std::make_shared<const Json>(*member));
}

inline void from_json(const Json& from, Anything& into) { into = Anything(std::make_shared<const Json>(from)); }
inline void to_json(Json& into, const Anything& value) { into = value.has_value() ? value.json() : Json(); }

// Writes a member; what is absent is left out.
template <class T>
void write(Json& object, const char* name, const T& value) {
    object[name] = value;
}
template <class T>
void write(Json& object, const char* name, const std::optional<T>& value) {
    if (value) object[name] = *value;
}
inline void write(Json& object, const char* name, const Anything& value) {
    if (value.has_value()) object[name] = value.json();
}

}  // namespace referee
